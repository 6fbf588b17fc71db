"""Controllers that are told whole motions, as trajectories."""

from abc import abstractmethod
import math
import time

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import even_braking_motion, Motion, MotionLimits, MotionState
from ros2_ik.node.controllers.controller import Bounds, Controller
from ros2_ik.node.controllers.trajectory_message import braking_message, trajectory_message

SLACK = 0.02   # so late may a controller begin to brake, or so early does it seem to be [s]
MORE = 0.5     # part of the largest accelerations that a robot which joins a motion may add to it
SOON = 2.0     # braking may be given up for a motion that ends in so many times of what it takes
SPOTS = 7      # states in which a controller may begin to brake that are looked at
LOOKS = 50     # positions of the rest of a motion that are looked at
HAIR = 1e-6    # so far beyond the rest of a motion is not beyond it [rad, m]
CLEAR = 0.02   # so far ahead of its braking, and farther by what it goes
LATE = 0.1     # in this time, nobody is who was told to brake [rad, m; s]


class TrajectoryController(Controller):
    """
    Sends each motion at once; it replaces the one before, from where the robot is then.

    Where that is, is not known: a controller begins at the measured state, which is late by the
    delay of the motors, or at the state that it commands, and it hears of it a bit later.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._message: JointTrajectory | None = None   # that brakes
        self._unbraked: tuple[Motion, float] | None = None

    def send(self, motion: Motion, join: float) -> None:
        self.send_trajectory(trajectory_message(motion, join))

    @abstractmethod
    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""

    def joining(self, velocity: np.ndarray, limits: MotionLimits, lag: float) -> float:
        # who is late by t0 gets on by a cubic polynomial, and accelerates by 6 |v| t0 / t^2 more
        worst = float((np.abs(velocity) / limits.acceleration).max(initial=0.0))
        return math.sqrt(6 * worst * (SLACK + lag) / MORE)

    def _brake(self, limits: MotionLimits, bounds: Bounds, lag: float) -> None:
        """Brake, unless the motion ends about as soon: not to go beyond its goal."""
        assert self._motion is not None
        now = time.monotonic()
        begins = [self.commanded(moment) for moment in np.linspace(
            now - lag - SLACK, now + SLACK, SPOTS).tolist()]
        if not any(state.velocity.any() for state in begins):
            self._message, self.rest_at = None, now   # it was told to rest, where it was told
            return
        middle = self.commanded(now - lag / 2)
        braking = even_braking_motion(self.joints, middle.position, middle.velocity, limits,
                                      begins, bounds)
        self._message, self._unbraked = None, (self._motion, self._began)
        self.rest_at = self._began + self._motion.duration + lag
        if (self.rest_at - now <= SOON * braking.duration
                and self._passes(braking.goal, now - lag)):
            return
        self.begin(braking)
        self.rest_at = self._began + braking.duration
        self._message = braking_message(braking)
        self.send_trajectory(self._message)

    def _passes(self, end: np.ndarray, moment: float) -> bool:
        """Whether positions (n,) are beyond all that the motion comes to from a moment on."""
        assert self._motion is not None
        over = self._began + self._motion.duration
        way = np.array([self.commanded(time).position
                        for time in np.linspace(moment, max(over, moment), LOOKS).tolist()])
        return bool(((end < way.min(axis=0) - HAIR) | (end > way.max(axis=0) + HAIR)).any())

    def goes_on(self, position: np.ndarray) -> bool:
        """
        Whether joints at positions (n,) cannot have heard that they shall brake.

        What was measured is never ahead of where they are.
        """
        if self._unbraked is None or not self._braking or self._motion is None:
            return False
        begin, now = self._motion.at(0.0), self.commanded(time.monotonic())
        ahead = (position - now.position) * np.sign(begin.velocity)
        return bool((ahead > CLEAR + LATE * np.abs(begin.velocity)).any())

    def unbraked(self, moment: float) -> MotionState:
        motion, began = self._unbraked or (self._motion, self._began)
        assert motion is not None
        return motion.at(moment - began)

    def stop_again(self, limits: MotionLimits, bounds: Bounds, lag: float, anew: bool) -> float:
        if self.released or self._message is None:
            return 0.0
        assert self._motion is not None and self._unbraked is not None
        if anew:
            self._motion, self._began = self._unbraked
            self._brake(limits, bounds, lag)
            self._braking = True
            return max(self.rest_at - time.monotonic(), 0.0)
        self.send_trajectory(self._message)
        return self._motion.duration
