"""
Pickling for another process, which has the robot and keeps the last checkers it was sent.

By dispatch tables: a `persistent_id` in Python would be called for each of a thousand items.
"""

import copyreg
from functools import lru_cache
import io
import pickle
from typing import Any
from weakref import WeakKeyDictionary

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.meshes.mesh_paths import adopt_mesh_files, mesh_files, MeshFiles
from ros2_ik.core.robot import Robot

_packed: WeakKeyDictionary[CollisionChecker, bytes] = WeakKeyDictionary()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, robot: Robot) -> None:
        super().__init__(io.BytesIO(data))
        self._robot = robot

    def find_class(self, module: str, name: str) -> Any:
        """Fill in what was left out."""
        if (module, name) == (__name__, _the_robot.__name__):
            return lambda: self._robot
        if (module, name) == (__name__, _the_checker.__name__):
            return lambda data, files: _checker(data, self._robot, files)
        return super().find_class(module, name)


def _the_robot() -> Robot:
    """Stand for the robot in a pickle."""
    raise pickle.UnpicklingError('only unpack() can read this: the robot is left out')


def _the_checker(data: bytes, files: MeshFiles) -> CollisionChecker:
    """Stand for a checker in a pickle."""
    raise pickle.UnpicklingError('only unpack() can read this: the robot is left out')


@lru_cache(maxsize=4)
def _checker(data: bytes, robot: Robot, files: MeshFiles) -> CollisionChecker:
    adopt_mesh_files(robot, files)
    make, arguments = unpack(data, robot)
    checker: CollisionChecker = make(*arguments)
    return checker


def pack(value: Any, robot: Robot) -> bytes:
    """Pickle a value in which `robot`, and checkers of it, may occur anywhere."""
    def robot_of(item: Robot) -> tuple[Any, ...]:
        return (_the_robot, ()) if item.key == robot.key else item.__reduce__()

    def checker_of(item: CollisionChecker) -> tuple[Any, ...]:
        if item.robot.key != robot.key:
            return item.__reduce__()
        if item not in _packed:    # it does not change, and its scene takes longer than all else
            _packed[item] = pack(item.__reduce__(), robot)
        return _the_checker, (_packed[item], mesh_files(item.robot))
    file = io.BytesIO()
    pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, Robot: robot_of,
                              CollisionChecker: checker_of}
    pickler.dump(value)
    return file.getvalue()


def unpack(data: bytes, robot: Robot) -> Any:
    """Undo `pack` in a process with a robot of its own."""
    return _Unpickler(data, robot).load()
