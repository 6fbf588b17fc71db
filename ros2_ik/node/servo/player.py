"""Plays motions of streaming controllers: one command a period."""

from collections.abc import Callable
import time
from types import SimpleNamespace

from ros2_ik.core import Motion
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import braked
from ros2_ik.node.servo.messages import Brake, Open, Play, Played, Shut
from ros2_ik.node.servo.servo_output import Knot
from ros2_ik.node.state.motion_clock import MotionClock

HOLD = 0.1     # so long the end is repeated, since a message may be lost [s]
HELD = 0.1     # after a pause of so long the joints have stopped [s]
USUAL = 2      # periods between two ticks, at most


class Player:
    """
    Publishes the commands of one controller, whose joints are where they were commanded last.

    `say` sends to the node. After a pause of HELD a motion ends where it is; after a shorter one
    it goes on from there.
    """

    def __init__(self, context: SimpleNamespace, clock: MotionClock, opened: Open,
                 say: Callable[[Played], None]) -> None:
        self._node, self._clock, self._say = context.node, clock, say
        self._number, self._output, _ = opened
        self._topic = CommandTopic(context, self._output.message_type, self._output.topic, 1,
                                   self._on_other)
        self._motion: Motion | None = None
        self._now = self._time = 0.0    # of the last tick, on the motion clock; of the motion [s]
        self._ticked = 0.0              # of the last tick, on the steady clock [s]
        self._unheard = ''
        say(Played(self._number, '', ''))

    def take(self, message: Play | Brake | Shut) -> None:
        """Do what the node says."""
        if isinstance(message, Play):
            self.play(message)
        elif isinstance(message, Brake):
            self.brake(message)
        else:
            self.shut()
            if message.gone:
                self.close()

    def play(self, play: Play) -> None:
        """Begin a motion, from rest."""
        self._output = play.output
        self._begin(Motion.spline(play.output.joints, play.times, play.positions,
                                  play.velocities, play.is_curved))
        self._now, self._ticked = self._clock.now(), time.monotonic()

    def brake(self, brake: Brake) -> None:
        """Brake from the last command, unless nothing moves."""
        if self._motion is not None and self._time < self._motion.duration:
            at, left = self._motion.at(self._time), self._motion.duration - self._time
            if braking := braked(self._motion, at, left, brake.limits, brake.bounds):
                self._begin(braking)

    def _begin(self, motion: Motion) -> None:
        self._motion, self._time = motion, 0.0

    def tick(self, period: float) -> None:
        """Publish due setpoints; `period` is the usual time between two calls [s]."""
        if (unheard := self._topic.unheard()) != self._unheard:
            self._unheard = unheard
            self._say(Played(self._number, unheard, ''))
        motion, now = self._motion, self._clock.now()
        if motion is None or self._time > motion.duration + HOLD:
            return
        step, self._now = now - self._now, now
        pause, self._ticked = time.monotonic() - self._ticked, time.monotonic()
        if pause > HELD and self._time < motion.duration:
            self.give_up('the computer was too busy to send commands for '
                         f'{pause:.2g} s, so that the joints have stopped')
            return
        # what a shorter pause has missed is not made up for
        self._time += step if pause <= USUAL * period else min(step, period)
        stamp = self._node.get_clock().now().nanoseconds
        self._topic.publish(self._output.message([Knot(stamp, *motion.at(self._time)[:2])]))

    def give_up(self, reason: str) -> None:
        """Publish nothing more of the present motion, and say why."""
        self.shut()
        self._say(Played(self._number, self._unheard, reason))

    def shut(self) -> None:
        """Publish nothing more of the present motion."""
        self._motion = None

    def _on_other(self, message: object, topic: str) -> None:
        # without a motion there is nothing to give up, and the servo's session may send these
        if self._motion and self._output.concerns(message):
            self.give_up(f'another client sends commands on {topic}; nothing more is sent to it')

    def close(self) -> None:
        """Destroy publisher and subscription."""
        self._topic.close()
