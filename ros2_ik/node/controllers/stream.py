"""Streaming controllers: the servo's process publishes one command a period."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Robot
from ros2_ik.node.controllers.controller import BrakingTask
from ros2_ik.node.controllers.trajectory_controller import seconds_of, TrajectoryController
from ros2_ik.node.servo.messages import Broken, Close, Died, Heard, Open, Play, Shut
from ros2_ik.node.servo.servo_output import ServoOutput


class Stream(TrajectoryController):
    """Has each motion played by the servo's process, whatever else the node does meanwhile."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.topic = self.context.node.resolve_topic_name(self.topic)
        self._unheard = ''
        self.context.servo.receivers.append(self._take)
        self._open()

    def _open(self) -> None:
        self._unheard = "the servo's process is still starting"
        self.context.servo.send(Open(self.name, self.output, self._period))

    @property
    @abstractmethod
    def output(self) -> ServoOutput:
        """Return how its commands are written."""

    @property
    def _period(self) -> float:
        return float(self.context.parameters.command_period)

    def _take(self, said: Any) -> None:
        if isinstance(said, Died):
            self.release("the servo's process has died: the joints stopped where they were "
                         'commanded last')
            self._open()
        elif isinstance(said, Heard) and said.name == self.name:
            self._unheard = said.unheard
        elif isinstance(said, Broken) and said.name == self.name:
            self.release(said.reason)

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
        self.context.servo.send(Play(self.name, self.output, self._period, times, positions,
                                     velocities))

    def brake(self, task: BrakingTask) -> None:
        # the joints are at once where they are commanded to be, however late that is
        super().brake(replace(task, delay=0.0, measured=None))

    def cancel(self) -> None:
        self.held = True
        self.context.servo.send(Shut(self.name))

    def close(self) -> None:
        super().close()
        self.context.servo.receivers.remove(self._take)
        self.context.servo.send(Close(self.name))
