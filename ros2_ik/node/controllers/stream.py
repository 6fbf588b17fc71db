"""Controllers that take what they are told at once, and so are told it bit by bit."""

from abc import abstractmethod
import time
from typing import Any

from rclpy.clock import Clock, ClockType

from ros2_ik.core import braking_motion, Motion, MotionState
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import BrakingTask, Controller

HOLD = 0.5   # the end is repeated for so long, since a message may be lost [s]
CATCH = 2    # after a pause the motion goes on, at most by so many periods, where it was


class Stream(Controller):
    """Publishes where the joints shall be, once a period along the motion."""

    message_type: Any
    immediate = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands = CommandTopic(self.wiring, self.message_type, self.topic, 1,
                                      self.give_way)
        self._time = self._last = 0.0
        self._timer: Any = None

    def deaf(self) -> str:
        return self._commands.unheard()

    def send(self, motion: Motion, join: float) -> None:
        self._time, self._last = 0.0, time.monotonic()
        self.hush()
        self._timer = self.wiring.node.create_timer(
            self.wiring.parameters.command_period, self._tick,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
            callback_group=self.wiring.callback_group)

    def _tick(self) -> None:
        now = time.monotonic()
        # never further at once than a period or two: that would be a jump
        self._time += min(now - self._last, CATCH * self.wiring.parameters.command_period)
        self._last = now
        self._commands.publish(self.message(self._motion.at(self._time)))
        if self._time > self._motion.duration + HOLD:
            self.hush()

    def hush(self) -> None:
        if self._timer is not None:
            self.wiring.node.destroy_timer(self._timer)
            self._timer = None

    def _brake(self, task: BrakingTask) -> None:
        # the joints are at once where they are told to be, however late that is
        told = self.commanded(time.monotonic())
        braking = braking_motion(self.joints, told.position, told.velocity, task.limits,
                                 told.acceleration, task.bounds)
        self.start(braking)
        self.rest_at = self._began + braking.duration

    def stop_again(self, task: BrakingTask, anew: bool) -> float:
        """Repeat the end for a while."""
        if self.released or self._motion is None:
            return 0.0
        self.send(self._motion, 0.0)
        self._time = self._motion.duration
        return 0.0

    def commanded(self, moment: float) -> MotionState:
        # by a pause the motion is late, as soon as it goes on
        pause = time.monotonic() - self._last - CATCH * self.wiring.parameters.command_period
        return self._motion.at(self._time + moment - self._last - max(pause, 0.0))

    @abstractmethod
    def message(self, state: MotionState) -> Any:
        """Write a state."""

    def close(self) -> None:
        self.hush()
        self._commands.close()
