"""Reads requests in their order, once geometry and TF are ready."""

from collections import deque
from collections.abc import Awaitable, Callable
import time
from typing import TypeVar

from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import LOOK, Transforms

T = TypeVar('T')


class Settled:
    """Reads requests once a new robot's geometry and TF are ready; no thread waits."""

    def __init__(self, scene: PlanningScene, transforms: Transforms,
                 sleep: Callable[[float], Awaitable[None]]) -> None:
        self._scene, self._transforms, self._sleep = scene, transforms, sleep
        self._turns = deque[object]()

    async def read(self, read: Callable[[], T]) -> T:
        """
        Return the result of `read`, called once the geometry of a new robot is made.

        While TF has only just begun to be heard, `read` is tried again where it is refused for
        want of a transform. Both take a moment at most: then it is refused for good. Questions
        are read in the order in which they came, so that none to move overtakes another.
        """
        turn = object()
        self._turns.append(turn)
        try:
            while self._scene.geometry.settling or self._turns[0] is not turn:
                await self._sleep(LOOK)
            while True:
                began = time.monotonic()
                try:
                    return read()
                except RequestError as error:
                    if not self._transforms.may_pass(error, began):
                        raise
                await self._sleep(LOOK)
        finally:
            self._turns.remove(turn)
