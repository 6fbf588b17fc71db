"""Delay and distance of measured joints behind their commands."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_ik.core import Array, MotionState, Robot
from ros2_ik.node.controllers.controller import ASIDE, MOST_LATE
from ros2_ik.node.state.measured_joints import MeasuredJoints, offset

STEP = 0.02       # between the delays that are tried [s],
EARLY = 0.06      # from this one on: a motion may begin before its acceptance is received [s]
STANDS = 1e-12    # squared speed without a direction [(rad/s)^2, (m/s)^2]


class Tracking(NamedTuple):
    """
    Comparison of joints with their commands.

    `delay` [s] explains best where they are, `aside` is how far one is from there then; if that
    is near, they are on their way. `error` (n,) is how far each joint, by itself, is from all that
    was commanded from MOST_LATE ago to EARLY ahead. `commanded` and `measured` (n,) are where they
    should be and are [rad, m].
    """

    delay: float
    aside: float
    error: Array
    commanded: Array
    measured: Array

    @property
    def on_way(self) -> bool:
        """Return whether one delay explains where all joints are."""
        return self.aside <= ASIDE


def tracking(robot: Robot, joints: Sequence[str], commanded: Callable[[float], MotionState],
             measured: MeasuredJoints, most: float = MOST_LATE) -> Tracking:
    """
    Compare measured joints with the commands of the last `most` seconds.

    Each joint is compared at the time of its own reading: some may be older than others.
    """
    moments, at = [measured.moment([joint]) for joint in joints], measured.state(joints)[0]

    def commanded_before(delay: float) -> tuple[Array, Array]:
        states = {moment: commanded(moment - delay) for moment in {*moments}}
        return (np.array([states[moment].position[j] for j, moment in enumerate(moments)]),
                np.array([states[moment].velocity[j] for j, moment in enumerate(moments)]))
    delays = np.arange(-EARLY, most + STEP / 2, STEP)
    positions, velocities = zip(*map(commanded_before, delays.tolist()), strict=True)
    apart = offset(robot, joints, np.array(positions), at)
    error = np.maximum(np.maximum(apart.min(axis=0), -apart.max(axis=0)), 0.0)
    k = int(np.argmin(np.abs(apart).max(axis=1)))
    velocity = velocities[k]
    speed = float(velocity @ velocity)
    later = float(np.clip(apart[k] @ velocity / speed, -STEP, STEP)) if speed > STANDS else 0.0
    aside = float(np.abs(apart[k] - later * velocity).max())
    delay = max(float(delays[k]) + later, 0.0)
    return Tracking(delay, aside, error, commanded_before(0.0)[0], at)
