"""Parses requests once collision geometry and TF are ready."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import RETRY_PERIOD, Transforms

T = TypeVar('T')


class Settled:
    """Delays the parsing of requests until geometry and TF are ready; blocks no thread."""

    def __init__(self, description: Description, scene: PlanningScene, transforms: Transforms,
                 sleep: Callable[[float], Awaitable[None]]) -> None:
        self._description, self._scene = description, scene
        self._transforms, self._sleep = transforms, sleep

    async def read(self, read: Callable[[], T]) -> T:
        """
        Await the first robot and the collision geometry of a new one, then return `read()`.

        Shortly after the start of the TF subscription, `read` is retried if it raises
        RequestError for a missing transform.
        """
        while self._description.is_awaited or self._scene.geometry.settling:
            await self._sleep(RETRY_PERIOD)
        while True:
            try:
                return read()
            except RequestError as error:
                if not self._transforms.may_arrive(error):
                    raise
            await self._sleep(RETRY_PERIOD)
