"""Comparison of measured joints with their commands: delay and tracking error."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_ik.core import Array, MotionState, Robot
from ros2_ik.node.controllers.controller import MAX_DELAY
from ros2_ik.node.state.measured_joints import MeasuredJoints, offset

DELAY_STEP = 0.02   # between two candidate delays [s]
# Maximum lead [s]: a controller may start before the node receives the acceptance of the goal.
MAX_LEAD = 0.06
MIN_SQUARED_SPEED = 1e-12   # commanded joints that are slower count as at rest [(rad/s)^2]


class Tracking(NamedTuple):
    """
    Comparison of measured joints with their commands.

    `delay` [s] is the common delay at which the joints fit the commanded path best; `aside` is the
    worst joint's distance from the path at that delay [rad, m]. `error` (n,) is the distance of
    each joint from its own nearest command between MAX_DELAY ago and MAX_LEAD ahead.
    `commanded` and `measured` (n,) are positions at the time of measurement [rad, m].
    """

    delay: float
    aside: float
    error: Array
    commanded: Array
    measured: Array


def tracking(robot: Robot, joints: Sequence[str], commanded: Callable[[float], MotionState],
             measured: MeasuredJoints, most: float = MAX_DELAY) -> Tracking:
    """
    Compare measured joints with their commands of the last `most` seconds.

    `commanded` returns the commanded state at a time of the motion clock [s]. Each joint is
    compared at the time of its own reading, since readings differ in age.
    """
    moments, at = [measured.moment([joint]) for joint in joints], measured.state(joints)[0]

    # joints of one message have the same time, at which the command is evaluated once
    def commanded_before(delay: float) -> tuple[Array, Array]:
        states = {moment: commanded(moment - delay) for moment in {*moments}}
        return (np.array([states[moment].position[j] for j, moment in enumerate(moments)]),
                np.array([states[moment].velocity[j] for j, moment in enumerate(moments)]))
    # distances (delays, n) of the joints from their commands at each candidate delay
    delays = np.arange(-MAX_LEAD, most + DELAY_STEP / 2, DELAY_STEP)
    positions, velocities = zip(*map(commanded_before, delays.tolist()), strict=True)
    apart = offset(robot, joints, np.array(positions), at)
    # 0 for a joint between two of its commands, else the distance from the nearest command
    error = np.maximum(np.maximum(apart.min(axis=0), -apart.max(axis=0)), 0.0)
    # refine the best candidate by a projection onto the direction of the commanded velocity
    k = int(np.argmin(np.abs(apart).max(axis=1)))
    velocity = velocities[k]
    squared = float(velocity @ velocity)
    later = (float(np.clip(apart[k] @ velocity / squared, -DELAY_STEP, DELAY_STEP))
             if squared > MIN_SQUARED_SPEED else 0.0)
    aside = float(np.abs(apart[k] - later * velocity).max())
    delay = max(float(delays[k]) + later, 0.0)
    return Tracking(delay, aside, error, commanded_before(0.0)[0], at)
