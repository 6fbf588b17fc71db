"""Controllers that are told whole motions, as trajectories."""

from abc import abstractmethod
import time

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import even_braking_motion, Motion, MotionLimits
from ros2_ik.node.controllers.controller import Controller
from ros2_ik.node.controllers.trajectory_message import braking_message, trajectory_message

SLACK = 0.02   # so late may a controller begin to brake, or so early does it seem to be [s]


class TrajectoryController(Controller):
    """Sends each motion at once; it replaces the one before, from where the robot is then."""

    def send(self, motion: Motion) -> None:
        self.send_trajectory(trajectory_message(motion))

    @abstractmethod
    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""

    def stop(self, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
             limits: MotionLimits) -> float:
        """Brake; what would end within no more way by itself is left to do so."""
        braking = even_braking_motion(self.joints, position, velocity, limits, SLACK)
        if acceleration @ velocity < 0 and self._motion is not None:
            left = np.linalg.norm(self._motion.goal - position)
            if left <= np.linalg.norm(braking.goal - position):
                return self._began + self._motion.duration - time.monotonic()
        self.begin(braking)
        self.send_trajectory(braking_message(braking))
        return braking.duration
