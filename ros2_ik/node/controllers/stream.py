"""Streaming controllers: the servo's process publishes one command a period."""

from abc import abstractmethod
from itertools import count
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Array, MotionLimits, MotionState, Robot
from ros2_ik.node.controllers.controller import Controller, LATE
from ros2_ik.node.controllers.trajectories import seconds_of
from ros2_ik.node.servo.messages import Died, Open, Play, Played, Shut
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

    def _take(self, said: Any) -> None:
        if isinstance(said, Died):
            self.release("the servo's process has died: the joints stopped where they were "
                         'commanded last')
            self._open()
        elif isinstance(said, Played) and said.player == self._player:
            self._unheard = said.unheard
            if said.broken:
                self.release(f"controller '{self.name}': {said.broken}")

    def unavailable_reason(self) -> str:
        return self._unheard

    def servo_output(self, robot: Robot) -> ServoOutput:
        return self.output

    def send_trajectory(self, message: JointTrajectory) -> None:
        points = [(seconds_of(point), point.positions, point.velocities)
                  for point in message.points]
        if not self._braking:
            start = self.motion.at(0.0)
            points.insert(0, (0.0, start.position, start.velocity))
        times, positions, velocities = (np.array(values) for values in zip(*points, strict=True))
        self.context.servo.send(Play(self._player, self.output, times, positions, velocities))

    def stop(self, limits: MotionLimits, bounds: tuple[Array, Array], delay: float = LATE,
             measured: MotionState | None = None) -> None:
        # commands go on from the last one, wherever the joints are
        super().stop(limits, bounds, 0.0)

    def cancel(self) -> None:
        self.held = True
        self.context.servo.send(Shut(self._player))

    def close(self) -> None:
        self.context.servo.receivers.remove(self._take)
        self.context.servo.send(Shut(self._player, gone=True))
