"""Plays motions of streaming controllers: one command a period."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ros2_ik.core import Motion
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.servo.messages import Open, Play, Played
from ros2_ik.node.servo.servo_output import Knot
from ros2_ik.node.state.motion_clock import MotionClock

HOLD = 0.1     # so long the end is repeated, since a message may be lost [s]
HELD = 0.1     # after a pause of so long the joints have stopped [s]
CATCH = 2      # periods of a motion that are commanded at once, at most


class Player:
    """
    Publishes the commands of one controller, whose joints are where they were commanded last.

    `say` sends to the node. After a pause of HELD a motion ends where it is; after a shorter one
    it catches up by CATCH periods a period.
    """

    def __init__(self, context: Any, clock: MotionClock, opened: Open,
                 say: Callable[[Played], None]) -> None:
        self._node, self._clock, self._say = context.node, clock, say
        self._number, self._output, _ = opened
        self._topic = CommandTopic(context, self._output.message_type, self._output.topic, 1,
                                   self._on_other)
        self._motion: Motion | None = None
        self._began = self._now = self._time = 0.0  # on the motion clock; time of the motion [s]
        self._unheard = ''
        say(Played(self._number, '', ''))

    def play(self, play: Play) -> None:
        """Begin a motion, at once."""
        now, times, p, v = self._clock.now(), play.times, play.positions, play.velocities
        if times[0] > 0:
            if self._motion is None:    # another client commands the joints meanwhile
                return
            at = self._motion.at(self._time)
            times, p, v = (np.insert(values, 0, first, axis=0) for values, first in (
                (times, 0.0), (p, at.position), (v, at.velocity)))
        self._output = play.output
        self._motion = Motion.spline(play.output.joints, times, p, v)
        self._began, self._now, self._time = now, now, 0.0

    def tick(self, period: float) -> None:
        """Publish what is due; `period` is the time until the next call [s]."""
        if (unheard := self._topic.unheard()) != self._unheard:
            self._unheard = unheard
            self._say(Played(self._number, unheard, ''))
        motion, now = self._motion, self._clock.now()
        if motion is None or self._time > motion.duration + HOLD:
            return
        if now - self._now > HELD and self._time < motion.duration:
            self._say(Played(self._number, self._unheard, 'the computer was too busy to send '
                             f'commands for {now - self._now:.2g} s, so that the joints have '
                             'stopped'))
            stopped = motion.at(self._time)
            motion = self._motion = Motion(motion.joints, 0.0, lambda _: stopped)
            self._began, self._time = now, 0.0
        self._now, self._time = now, min(now - self._began, self._time + CATCH * period)
        stamp = self._node.get_clock().now().nanoseconds
        self._topic.publish(self._output.message([Knot(stamp, *motion.at(self._time)[:2])]))

    def shut(self) -> None:
        """Publish nothing more of the present motion."""
        self._motion = None

    def _on_other(self, message: Any, topic: str) -> None:
        if self._output.concerns(message):
            self.shut()
            self._say(Played(self._number, self._unheard, 'another client sends commands on '
                             f'{topic}; nothing more is sent to it'))

    def close(self) -> None:
        """Destroy publisher and subscription."""
        self._topic.close()
