"""Streaming controllers: the servo's process publishes one command per period."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Robot
from ros2_ik.node.controllers.controller import braked, Controller, USUAL_DELAY
from ros2_ik.node.controllers.trajectory_controller import PERIOD
from ros2_ik.node.servo.loop import Loop
from ros2_ik.node.servo.messages import Died, FromServo, Played
from ros2_ik.node.servo.player import Player
from ros2_ik.node.servo.servo_output import Knot, ServoOutput

_PLAYER_NUMBERS = count()


class Stream(Controller):
    """Sends each motion to the servo's process, which streams it undelayed by node callbacks."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.topic = self.context.node.resolve_topic_name(self.topic)
        self._unavailable, self._player = '', next(_PLAYER_NUMBERS)
        self.context.servo.receivers.append(self._on_message)
        self._open()

    def _open(self) -> None:
        self._unavailable = "the servo's process is still starting"
        self.context.servo.call(Loop.open_player, self._player, self.output,
                                self.context.parameters.command_period)

    @property
    @abstractmethod
    def output(self) -> ServoOutput:
        """Return the encoder of the commands."""

    def _on_message(self, message: FromServo) -> None:
        # after `Died`, `_open` starts a new process with a new player
        if isinstance(message, Died):
            self.release("the servo's process has died: the joints stopped at their last command")
            self._open()
        elif isinstance(message, Played) and message.player == self._player:
            self._unavailable = message.unavailable
            if message.broken:
                self.release(f"controller '{self.name}': {message.broken}")
                # drops a motion that was sent before this message arrived
                self._call(Player.shut)

    def _call(self, method: Callable[..., None], *arguments: object) -> None:
        self.context.servo.call(Loop.call_player, self._player, method, *arguments)

    def unavailable_reason(self) -> str:
        return self._unavailable

    def servo_output(self, robot: Robot) -> ServoOutput:
        return self.output

    def start(self, motion: Motion, join: float) -> None:
        # hold the last command for `join`, while the joints of other controllers reach their start
        self._begin(motion, braking=False)
        self.began += join
        # the player interpolates between these states by cubic polynomials
        times = np.array([0.0, *([join] if join else []), *(join + motion.times(PERIOD))])
        states = [motion.at(max(time - join, 0.0)) for time in times]
        self._call(Player.play, self.output, times, np.array([state.position for state in states]),
                   np.array([state.velocity for state in states]), motion.is_curved)

    def stop(self, limits: MotionLimits, bounds: tuple[Array, Array], delay: float = USUAL_DELAY,
             measured: MotionState | None = None) -> None:
        # The player brakes from its own last command, so `delay` and `measured` are not needed.
        # The braking motion kept here predicts the rest positions; it ignores the pipe's delay.
        if not self.released:
            self._call(Player.brake, limits, bounds)
            now = self.context.now()
            if braking := braked(self.motion, self.commanded(now), self.rest_at - now, limits,
                                 bounds):
                self._begin(braking, braking=True)

    def cancel(self) -> None:
        super().cancel()
        self._call(Player.shut)

    def close(self) -> None:
        self.context.servo.receivers.remove(self._on_message)
        self.context.servo.call(Loop.close_player, self._player)


@dataclass(frozen=True)
class JointStateOutput(ServoOutput):
    """Encodes servo commands as JointState messages with positions and velocities."""

    message_type = JointState

    def concerns(self, message: JointState) -> bool:
        return not set(self.joints).isdisjoint(message.name)

    def message(self, knots: Sequence[Knot]) -> JointState:
        time, position, velocity = knots[-1]
        message = JointState(name=list(self.joints), position=position.tolist(),
                             velocity=velocity.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time, 10**9)
        return message


class JointStateStream(Stream):
    """Streams named positions and velocities, the interface of many simulators."""

    usual_topic = 'joint_command'
    by_name = True

    @property
    def output(self) -> JointStateOutput:
        return JointStateOutput(self.topic, self.joints)
