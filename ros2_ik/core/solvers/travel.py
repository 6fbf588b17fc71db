"""Pickling without the robot, which the other process has."""

import io
import pickle
from typing import Any

from ros2_ik.core.robot import Robot

_ROBOT = 'the robot'


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, robot: Robot) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._key = robot.key

    def persistent_id(self, item: Any) -> str | None:
        return _ROBOT if isinstance(item, Robot) and item.key == self._key else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, robot: Robot) -> None:
        super().__init__(file)
        self._robot = robot

    def persistent_load(self, pid: str) -> Robot:
        return self._robot


def pack(value: Any, robot: Robot) -> bytes:
    """Pickle a value in which `robot` may occur anywhere."""
    file = io.BytesIO()
    _Pickler(file, robot).dump(value)
    return file.getvalue()


def unpack(data: bytes, robot: Robot) -> Any:
    """Undo `pack` in a process with a robot of its own."""
    return _Unpickler(io.BytesIO(data), robot).load()
