"""Pickling for another process, which has the robot and keeps the last checkers it was sent."""

from functools import lru_cache
import io
import pickle
from typing import Any
from weakref import WeakKeyDictionary

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.meshes.mesh_paths import adopt_mesh_files, mesh_files, MeshFiles
from ros2_ik.core.robot import Robot

_packed: WeakKeyDictionary[CollisionChecker, bytes] = WeakKeyDictionary()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, robot: Robot) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._robot = robot

    def persistent_id(self, item: object) -> object:
        """
        Return what stands for the robot (True), or for a checker of it; None for all else.

        A robot with added frames is made again from the one without.
        """
        if isinstance(item, Robot):
            return True if item.plain is item and item.key == self._robot.key else None
        if not isinstance(item, CollisionChecker) or item.robot.key != self._robot.key:
            return None
        if item not in _packed:    # it does not change, and its scene takes longer than all else
            _packed[item] = pack(item.__reduce__(), self._robot)
        return _packed[item], mesh_files(item.robot)


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, robot: Robot) -> None:
        super().__init__(io.BytesIO(data))
        self._robot = robot

    def persistent_load(self, persistent_id: Any) -> Any:
        """Return an object that was left out of the pickle."""
        return self._robot if persistent_id is True else _checker(*persistent_id, self._robot)


@lru_cache(maxsize=4)
def _checker(data: bytes, files: MeshFiles, robot: Robot) -> CollisionChecker:
    adopt_mesh_files(robot, files)
    make, arguments = unpack(data, robot)
    checker: CollisionChecker = make(*arguments)
    return checker


def pack(value: object, robot: Robot) -> bytes:
    """Pickle a value in which `robot`, and checkers of it, may occur anywhere."""
    file = io.BytesIO()
    _Pickler(file, robot).dump(value)
    return file.getvalue()


def unpack(data: bytes, robot: Robot) -> Any:
    """Undo `pack` in a process with a robot of its own."""
    return _Unpickler(data, robot).load()
