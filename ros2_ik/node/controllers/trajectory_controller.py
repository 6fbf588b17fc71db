"""Controllers that are told whole motions, as trajectories."""

from abc import abstractmethod
import math
import time

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import even_braking_motion, Motion, MotionLimits, MotionState
from ros2_ik.node.controllers.controller import Controller
from ros2_ik.node.controllers.trajectory_message import braking_message, trajectory_message

SLACK = 0.02   # so late may a controller begin to brake, or so early does it seem to be [s]
MORE = 0.5     # part of the largest accelerations that a robot which joins a motion may add to it
SOON = 1.5     # where jerk ends a motion, braking evenly in more than 2/3 of the time goes farther


class TrajectoryController(Controller):
    """Sends each motion at once; it replaces the one before, from where the robot is then."""

    def send(self, motion: Motion, join: float) -> None:
        self.send_trajectory(trajectory_message(motion, join))

    @abstractmethod
    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""

    def joining(self, velocity: np.ndarray, limits: MotionLimits) -> float:
        # who begins late gets on by a cubic polynomial, and accelerates by 6 |v| SLACK / t^2 more
        worst = float((np.abs(velocity) / limits.acceleration).max(initial=0.0))
        return math.sqrt(6 * worst * SLACK / MORE)

    def stop(self, state: MotionState, limits: MotionLimits, late: float | None) -> float:
        """Brake, unless the motion ends about as soon: not to go beyond its goal."""
        braking = even_braking_motion(self.joints, state.position, state.velocity, limits, SLACK)
        if late is not None and self._motion is not None:
            left = self._began + self._motion.duration - time.monotonic() + late
            if left <= SOON * braking.duration:
                return left
        self.begin(braking)
        self.send_trajectory(braking_message(braking))
        return braking.duration
