"""Waiting, so that others have their turn."""

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType

from ros2_ik.node.controllers.controller import Wiring


class Turns:
    """What a coroutine awaits to let go of the node's thread."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    async def turn(self) -> None:
        """Go on when all that is due has been done."""
        executor = self._wiring.node.executor
        await self._wiring.wait(lambda done: executor.create_task(done, None))

    async def pause(self, seconds: float) -> None:
        """Go on after a time on the steady clock."""
        def begin(done: Callable[[Any], None]) -> None:
            def end() -> None:
                self._wiring.node.destroy_timer(timer)
                done(None)
            timer = self._wiring.node.create_timer(
                seconds, end, clock=Clock(clock_type=ClockType.STEADY_TIME),
                callback_group=self._wiring.callback_group)
        await self._wiring.wait(begin)
