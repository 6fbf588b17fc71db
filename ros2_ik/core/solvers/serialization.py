"""Pickling for another process, without the robot; the receiver caches collision checkers."""

from functools import lru_cache
import io
import pickle
from typing import Any
from weakref import WeakKeyDictionary

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.robot import Robot

_packed: WeakKeyDictionary[CollisionChecker, bytes] = WeakKeyDictionary()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, robot: Robot) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._robot = robot

    def persistent_id(self, item: object) -> object:
        """
        Return the persistent ID of the robot (True) or of its checker, or None for other items.

        Of a robot with added frames, only the frames are pickled; `unpack` adds them to its robot.
        """
        if isinstance(item, Robot):
            return (item.without_added_frames is item and item.key == self._robot.key) or None
        if not isinstance(item, CollisionChecker) or item.robot.key != self._robot.key:
            return None
        # cached: checkers of problems do not change, and pickling their scene is the slowest part
        if item not in _packed:
            _packed[item] = pack(item.__reduce__(), self._robot)
        return _packed[item]


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, robot: Robot) -> None:
        super().__init__(io.BytesIO(data))
        self._robot = robot

    def persistent_load(self, persistent_id: Any) -> Any:
        """Return the robot or checker for a persistent ID in the pickle."""
        return self._robot if persistent_id is True else _checker(persistent_id, self._robot)


@lru_cache(maxsize=4)
def _checker(data: bytes, robot: Robot) -> CollisionChecker:
    make, arguments = unpack(data, robot)
    checker: CollisionChecker = make(*arguments)
    return checker


def pack(value: object, robot: Robot) -> bytes:
    """Pickle a value; `robot` and its checkers in the value become persistent IDs."""
    file = io.BytesIO()
    _Pickler(file, robot).dump(value)
    return file.getvalue()


def unpack(data: bytes, robot: Robot) -> Any:
    """Return the value that `pack` pickled, with the `robot` of this process."""
    return _Unpickler(data, robot).load()
