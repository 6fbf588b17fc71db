"""Player of a streaming controller's motions: publishes one command per period."""

from collections.abc import Callable
import time

from ros2_ik.core import Array, Motion
from ros2_ik.node.controllers.controller import braked, BrakingLimits
from ros2_ik.node.controllers.topics import CommandTopic, TopicContext
from ros2_ik.node.motion.tracking import stand_still
from ros2_ik.node.servo.messages import Knot, PlayerState, ServoOutput
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

STREAM_HOLD_TIME = 0.1     # time to republish the final position, in case a message is lost [s]
MAX_PAUSE = 0.1     # time between two ticks [s] above which the joints count as stopped
MAX_PERIODS = 2     # time between ticks above which the motion is delayed [periods]


class Player:
    """
    Publishes commands to one controller; `number` identifies the player in messages to the node.

    `send` sends a message to the node. If the process is suspended for longer than MAX_PAUSE, the
    motion ends at the last command. After a shorter pause, it continues from the last command.
    """

    def __init__(self, context: TopicContext, clock: MotionClock, measured: JointStates,
                 number: int, output: ServoOutput, send: Callable[[PlayerState], None]) -> None:
        self._node, self._clock, self._measured, self._send = context.node, clock, measured, send
        self._number, self._output = number, output
        self._topic = CommandTopic(context, self._output.message_type, self._output.topic, 1,
                                   self._on_foreign_command)
        self._motion: Motion | None = None
        self._now = 0.0         # last tick on the motion clock [s]
        self._time = 0.0        # time of the last command since the start of the motion [s]
        self._ticked_at = 0.0      # last tick on the steady clock [s]
        self._unavailable = self._topic.no_subscriber_reason()
        send(PlayerState(self._number, self._unavailable, ''))

    def play(self, output: ServoOutput, times: Array, positions: Array, velocities: Array,
             is_curved: bool) -> None:
        """Play a motion from rest through `positions`, `velocities` (k, n) at `times` (k,) [s]."""
        self._output = output
        self._motion = Motion.spline(output.joints, times, positions, velocities, is_curved)
        self._time, self._now, self._ticked_at = 0.0, self._clock.now(), time.monotonic()

    def brake(self, within: BrakingLimits) -> None:
        """Brake from the last command, within limits."""
        motion = self._motion
        if motion is None or self._time >= motion.duration:
            return
        braking, passes_goal = braked(motion, self._time, motion.at(self._time), within)
        if not passes_goal:
            motion, self._motion, self._time = braking, braking, 0.0
        self._send(PlayerState(self._number, self._unavailable, '', motion.goal,
                               motion.duration - self._time))

    def tick(self, period: float) -> None:
        """Publish the setpoint that is due; `period` is the regular time between calls [s]."""
        if (unavailable := self._topic.no_subscriber_reason()) != self._unavailable:
            self._unavailable = unavailable
            self._send(PlayerState(self._number, unavailable, ''))
        motion, now = self._motion, self._clock.now()
        if motion is None or self._time > motion.duration + STREAM_HOLD_TIME:
            return
        step, self._now = now - self._now, now
        pause, self._ticked_at = time.monotonic() - self._ticked_at, time.monotonic()
        if pause > MAX_PAUSE and self._time < motion.duration:
            self.abort('the computer was too busy to send commands for '
                       f'{pause:.2g} s, so the joints have stopped')
            return
        # a shorter pause or a clock jump delays the motion, so that no limit is exceeded
        self._time += min(step, period * (MAX_PERIODS if pause <= MAX_PERIODS * period else 1))
        stamp, at = self._node.get_clock().now().nanoseconds, motion.at(self._time)
        # a controller that starts only now would jump to this command
        if stand_still(motion, now - self._time, self._measured):
            self.abort(f'the joints do not follow commands on {self._topic.name}')
            return
        self._topic.publish(self._output.message([Knot(stamp, *at[:2])]))

    def abort(self, reason: str) -> None:
        """End the motion, and send the reason to the node."""
        self.end_motion()
        self._send(PlayerState(self._number, self._unavailable, reason))

    def end_motion(self) -> None:
        """End the motion."""
        self._motion = None

    def _on_foreign_command(self, message: object, topic: str) -> None:
        # without a motion, the command may come from the servo session of this process
        if self._motion and self._output.affects_joints(message):
            self.abort(f'another client sends commands on {topic}; nothing more is sent to it')

    def close(self) -> None:
        """Destroy publisher and subscription."""
        self._topic.close()
