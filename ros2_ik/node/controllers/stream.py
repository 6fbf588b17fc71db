"""Streaming controllers: they are where they are commanded at once, and get a command a period."""

from abc import abstractmethod
from bisect import bisect_right
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core import braking_motion, Motion, MotionState
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import BrakingTask, Controller
from ros2_ik.node.controllers.motion_limits import acceleration_limits

HOLD = 0.5     # the end is repeated for so long, since a message may be lost [s]
CATCH = 2      # pauses of so many periods are usual;
HELD = 0.1     # in one of so long the joints have come to rest [s]
ROOM = 0.85    # part of the acceleration that is used to get back to the planned speed
KEPT = 1.0     # commands are known for so long [s]


class _Command(NamedTuple):
    """When a state of a motion was commanded, its time there, and how fast that went."""

    moment: float
    motion: Motion
    time: float
    rate: float

    def state(self, late: float = 0.0) -> MotionState:
        """Return the state, some seconds after the command."""
        position, velocity, acceleration = self.motion.at(self.time + self.rate * late)
        return MotionState(position, self.rate * velocity, self.rate**2 * acceleration)


class Stream(Controller):
    """
    Publishes one command a period along the motion.

    The joints stand where they were commanded last. So after a pause the motion goes on from
    there, as slowly as the pause was long, and back to its speed within the acceleration limits.
    """

    message_type: Any

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands = CommandTopic(self.context, self.message_type, self.topic, 1,
                                      self.give_way)
        self._past = deque[_Command]()      # the last one is the present one
        self._reached = 0.0                 # when the end was reached [s]
        self._limits = acceleration_limits(self.joints, self.context.parameters)
        self._period = self.context.parameters.command_period    # of the present motion [s]
        self._timer: Any = None

    def unavailable_reason(self) -> str:
        return self._commands.unheard()

    def send(self, motion: Motion, join: float) -> None:
        self._begin(motion)
        self._reached = self.began
        self._limits = acceleration_limits(self.joints, self.context.parameters)
        self._keep(_Command(self.began, motion, 0.0, 1.0))
        self.cancel()
        self._period = self.context.parameters.command_period
        self._timer = self.context.steady_timer(self._period, self._tick)

    def _keep(self, command: _Command) -> None:
        while self._past and self._past[-1].moment >= command.moment:   # the clock stands
            self._past.pop()
        self._past.append(command)
        while self._past[0].moment < command.moment - KEPT:
            self._past.popleft()

    def _tick(self) -> None:
        last, now = self._past[-1], self.context.now()
        command = _Command(now, self.motion, *self._after(max(now - last.moment, 0.0)))
        self._keep(command)
        if last.time < self.motion.duration:
            self._reached = now
        self._commands.publish(self.message(command.state()))
        if command.time > self.motion.duration + HOLD:
            self.cancel()

    def _after(self, elapsed: float) -> tuple[float, float]:
        """Return the time on the motion, and how fast that goes, so long after the last one."""
        last = self._past[-1]
        usual = CATCH * self._period
        if elapsed <= usual:
            rate = self._faster(last, elapsed)
            return last.time + elapsed * rate, rate
        # never further at once than usual, which would be a jump
        held = max(HELD, 2 * usual)
        rate = last.rate * max(held - elapsed, 0.0) / (held - usual)
        return last.time + usual / CATCH * rate, rate

    def _faster(self, last: _Command, elapsed: float) -> float:
        """Return how fast the motion may go by now."""
        if last.rate == 1.0 or not elapsed:
            return last.rate
        state = self.motion.at(last.time)
        left = ROOM * self._limits - last.rate**2 * np.abs(state.acceleration)
        moving = np.abs(state.velocity) > 1e-9
        room = (left[moving] / np.abs(state.velocity[moving])).min(initial=np.inf)
        return float(min(last.rate + max(room, 0.0) * elapsed, 1.0))

    def cancel(self) -> None:
        if self._timer is not None:
            self.context.node.destroy_timer(self._timer)
            self._timer = None

    def brake(self, task: BrakingTask) -> None:
        # the joints are at once where they are commanded to be, however late that is
        told = self.commanded(self.context.now())
        self.send(braking_motion(self.joints, told.position, told.velocity, task.limits,
                                 told.acceleration, task.bounds), 0.0)

    @property
    def rest_at(self) -> float:
        if self.released:    # nothing was sent since
            return self._past[-1].moment
        left = self.motion.duration - self._past[-1].time
        return self.context.now() + left if left > 0 else self._reached

    def commanded(self, moment: float) -> MotionState:
        last, now = self._past[-1], self.context.now()
        if moment < last.moment:
            k = bisect_right(self._past, moment, key=lambda command: command.moment)
            before = self._past[max(k - 1, 0)]
            return before.state(min(max(moment - before.moment, 0.0), CATCH * self._period))
        # by a pause the motion is late, as soon as it goes on
        time, rate = self._after(now - last.moment)
        return _Command(now, self.motion, time, rate).state(moment - now)

    @abstractmethod
    def message(self, state: MotionState) -> Any:
        """Write a state."""

    def close(self) -> None:
        self.cancel()
        self._commands.close()
