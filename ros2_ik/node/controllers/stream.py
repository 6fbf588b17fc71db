"""Controllers that take what they are told at once, and so are told it bit by bit."""

from abc import abstractmethod
from bisect import bisect_right
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from rclpy.clock import Clock, ClockType

from ros2_ik.core import braking_motion, Motion, MotionState
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import BrakingTask, Controller
from ros2_ik.node.controllers.motion_limits import acceleration_limits

HOLD = 0.5     # the end is repeated for so long, since a message may be lost [s]
CATCH = 2      # pauses of so many periods are usual;
HELD = 0.1     # in one of so long the joints have come to rest [s]
ROOM = 0.85    # part of the acceleration that is used to get back to the planned speed
KEPT = 1.0     # what was commanded is known for so long [s]


class _Command(NamedTuple):
    """When a motion's state was commanded, its time on that motion, and how fast that went."""

    moment: float
    motion: Motion
    time: float
    rate: float


class Stream(Controller):
    """
    Publishes where the joints shall be, once a period along the motion.

    Joints stand where they were told last. So after a pause the motion goes on from there, as
    slowly as the pause was long, and back to its speed within the limits of acceleration.
    """

    message_type: Any
    immediate = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands = CommandTopic(self.context, self.message_type, self.topic, 1,
                                      self.give_way)
        self._time, self._rate = 0.0, 1.0   # on the motion [s], and how fast that goes
        self._last = 0.0                    # when it was commanded last [s]
        self._reached = 0.0                 # when the end was reached [s]
        self._past = deque[_Command]()      # also of motions before
        self._limits = acceleration_limits(self.joints, self.context.parameters)
        self._period = self.context.parameters.command_period    # of the motion under way [s]
        self._timer: Any = None

    def unavailable_reason(self) -> str:
        return self._commands.unheard()

    def send(self, motion: Motion, join: float) -> None:
        self._time, self._rate, self._last = 0.0, 1.0, self.context.now()
        self._limits = acceleration_limits(self.joints, self.context.parameters)
        self._keep()
        self._repeat()

    def _repeat(self) -> None:
        self.cancel()
        self._period = self.context.parameters.command_period
        self._timer = self.context.node.create_timer(
            self._period, self._tick, clock=Clock(clock_type=ClockType.STEADY_TIME),
            callback_group=self.context.callback_group)

    def _keep(self) -> None:
        now = self.context.now()
        last = self._past[-1] if self._past else None
        if last is None or last.motion is not self.motion or last.time < self.motion.duration:
            self._reached = now
        while self._past and self._past[-1].moment >= now:   # the clock stands, or went back
            self._past.pop()
        self._past.append(_Command(now, self.motion, self._time, self._rate))
        while self._past[0].moment < now - KEPT:
            self._past.popleft()

    def _tick(self) -> None:
        now = self.context.now()
        elapsed, self._last = max(now - self._last, 0.0), now
        self._time, self._rate = self._after(elapsed)
        self._keep()
        self._commands.publish(self.message(_state(self.motion, self._time, self._rate)))
        if self._time > self.motion.duration + HOLD:
            self.cancel()

    def _after(self, elapsed: float) -> tuple[float, float]:
        """Return the time on the motion, and how fast that goes, so long after the last one."""
        usual = CATCH * self._period
        if elapsed <= usual:
            rate = self._faster(elapsed)
            return self._time + elapsed * rate, rate
        # never further at once than usual, which would be a jump
        held = max(HELD, 2 * usual)
        rate = self._rate * max(held - elapsed, 0.0) / (held - usual)
        return self._time + usual / CATCH * rate, rate

    def _faster(self, elapsed: float) -> float:
        """Return how fast the motion may go by now."""
        if self._rate == 1.0:
            return 1.0
        state = self.motion.at(self._time)
        left = ROOM * self._limits - self._rate**2 * np.abs(state.acceleration)
        moving = np.abs(state.velocity) > 1e-9
        room = (left[moving] / np.abs(state.velocity[moving])).min(initial=np.inf)
        return float(min(self._rate + max(room, 0.0) * elapsed, 1.0)) if elapsed else self._rate

    def cancel(self) -> None:
        if self._timer is not None:
            self.context.node.destroy_timer(self._timer)
            self._timer = None

    def _brake(self, task: BrakingTask) -> None:
        # the joints are at once where they are told to be, however late that is
        told = self.commanded(self.context.now())
        braking = braking_motion(self.joints, told.position, told.velocity, task.limits,
                                 told.acceleration, task.bounds)
        self.start(braking)
        self.rest_at = self._began + braking.duration

    def stop_again(self, task: BrakingTask, anew: bool) -> float:
        """Repeat the end for a while, once it has come to that."""
        if self.released or self._motion is None:
            return 0.0
        if self._time >= self._motion.duration:
            self._time = self._motion.duration
            self._repeat()
        return max(self._motion.duration - self._time, 0.0)

    @property
    def ends_at(self) -> float:
        if self.released:    # nothing was sent since
            return self._past[-1].moment
        left = self.motion.duration - self._time
        return self.context.now() + left if left > 0 else self._reached

    def commanded(self, moment: float, now: float | None = None) -> MotionState:
        if moment < self._past[-1].moment:
            return self._commanded_before(moment)
        # by a pause the motion is late, as soon as it goes on
        now = self.context.now() if now is None else now
        reached, rate = self._after(now - self._past[-1].moment)
        return _state(self.motion, reached + rate * (moment - now), rate)

    def _commanded_before(self, moment: float) -> MotionState:
        k = bisect_right(self._past, moment, key=lambda command: command.moment)
        before, after = self._past[max(k - 1, 0)], self._past[k]
        if before.motion is not after.motion:   # it went over to the other one in one step
            return _state(*before[1:])
        moments = before.moment, after.moment
        return _state(after.motion, float(np.interp(moment, moments, (before.time, after.time))),
                      float(np.interp(moment, moments, (before.rate, after.rate))))

    @abstractmethod
    def message(self, state: MotionState) -> Any:
        """Write a state."""

    def close(self) -> None:
        self.cancel()
        self._commands.close()


def _state(motion: Motion, time: float, rate: float) -> MotionState:
    """Return the state at a time on a motion that goes so fast."""
    position, velocity, acceleration = motion.at(time)
    return MotionState(position, rate * velocity, rate**2 * acceleration)
