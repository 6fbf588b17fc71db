"""Streaming controllers: the servo's process publishes one command a period."""

from abc import abstractmethod
from itertools import count
from typing import Any

import numpy as np

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Robot
from ros2_ik.node.controllers.controller import braked, Controller, USUAL_DELAY
from ros2_ik.node.controllers.trajectories import PERIOD
from ros2_ik.node.servo.messages import Brake, Died, FromServo, Open, Play, Played, Shut
from ros2_ik.node.servo.servo_output import ServoOutput

_NUMBERS = count()     # of players


class Stream(Controller):
    """Has each motion played by the servo's process, whatever else the node does meanwhile."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.topic = self.context.node.resolve_topic_name(self.topic)
        self._unheard, self._player = '', next(_NUMBERS)
        self.context.servo.receivers.append(self._take)
        self._open()

    def _open(self) -> None:
        self._unheard = "the servo's process is still starting"
        self.context.servo.send(Open(self._player, self.output,
                                     self.context.parameters.command_period))

    @property
    @abstractmethod
    def output(self) -> ServoOutput:
        """Return how its commands are written."""

    def _take(self, said: FromServo) -> None:
        if isinstance(said, Died):
            self.release("the servo's process has died: the joints stopped where they were "
                         'commanded last')
            self._open()
        elif isinstance(said, Played) and said.player == self._player:
            self._unheard = said.unheard
            if said.broken:
                self.release(f"controller '{self.name}': {said.broken}")
                self.context.servo.send(Shut(self._player))    # also what was sent meanwhile

    def unavailable_reason(self) -> str:
        return self._unheard

    def servo_output(self, robot: Robot) -> ServoOutput:
        return self.output

    def start(self, motion: Motion, join: float) -> None:
        # the joints stand where they were commanded last; they wait for those of other controllers
        self._begin(motion, braking=False)
        self.began += join
        times = np.array([0.0, *([join] if join else []), *(join + motion.times(PERIOD))])
        states = [motion.at(max(time - join, 0.0)) for time in times]
        self.context.servo.send(Play(
            self._player, self.output, times, np.array([state.position for state in states]),
            np.array([state.velocity for state in states]), motion.is_curved))

    def stop(self, limits: MotionLimits, bounds: tuple[Array, Array], delay: float = USUAL_DELAY,
             measured: MotionState | None = None) -> None:
        # The player brakes from its own last command: `delay` and `measured` are not needed.
        # What is kept here predicts where the joints rest, up to the pipe's delay.
        if not self.released:
            self.context.servo.send(Brake(self._player, limits, bounds))
            now = self.context.now()
            if braking := braked(self.motion, self.commanded(now), self.rest_at - now, limits,
                                 bounds):
                self._begin(braking, braking=True)

    def cancel(self) -> None:
        super().cancel()
        self.context.servo.send(Shut(self._player))

    def close(self) -> None:
        self.context.servo.receivers.remove(self._take)
        self.context.servo.send(Shut(self._player, gone=True))
