"""Waiting, so that others have their turn."""

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType

from ros2_ik.node.controllers.controller import ControllerContext


class Pauses:
    """What a coroutine awaits to let go of the node's thread."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context

    async def yield_to_executor(self) -> None:
        """Go on when all that is due has been done."""
        executor = self._context.node.executor
        await self._context.wait(lambda done: executor.create_task(done, None))

    async def pause(self, seconds: float) -> None:
        """Go on after a time on the steady clock."""
        def begin(done: Callable[[Any], None]) -> None:
            def end() -> None:
                self._context.node.destroy_timer(timer)
                done(None)
            timer = self._context.node.create_timer(
                seconds, end, clock=Clock(clock_type=ClockType.STEADY_TIME),
                callback_group=self._context.callback_group)
        await self._context.wait(begin)
