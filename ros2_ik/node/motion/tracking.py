"""Comparison of measured joints with their commands: delay and tracking error."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_ik.core import Array, MotionState
from ros2_ik.node.controllers.controller import MAX_DELAY
from ros2_ik.node.state.joint_states import JointStates

DELAY_STEP = 0.02   # between two compared delays [s]
FINE_STEP = 2e-3    # the same of `fine_tracking`
# Maximum lead [s]: a controller may start before the node receives the acceptance of the goal.
MAX_LEAD = 0.06


class Tracking(NamedTuple):
    """
    Comparison of measured joints with their commands.

    `delay` [s] is the common delay at which the joints fit the commanded path best; `aside` is the
    worst joint's distance from the path at that delay [rad, m]. `error` (n,) is the distance of
    each joint from its own nearest command between MAX_DELAY ago and MAX_LEAD ahead.
    """

    delay: float
    aside: float
    error: Array


def tracking(joints: Sequence[str], commanded: Callable[[float], MotionState],
             measured: JointStates, least: float = -MAX_LEAD, most: float = MAX_DELAY,
             step: float = DELAY_STEP) -> Tracking:
    """
    Compare measured joints with their commands `least` to `most` seconds ago, `step` [s] apart.

    `commanded` returns the commanded state at a time of the motion clock [s]. Each joint is
    compared at the time of its own reading, since readings differ in age.
    """
    moments = [measured.moment([joint]) for joint in joints]

    # joints of one message have the same time, at which the command is evaluated once
    def commanded_before(delay: float) -> Array:
        states = {moment: commanded(moment - delay).position for moment in {*moments}}
        return np.array([states[moment][j] for j, moment in enumerate(moments)])
    # distances (delays, n) of the joints from their commands at each candidate delay
    delays = np.arange(least, most + step / 2, step).tolist()
    apart = measured.away(joints, [commanded_before(delay) for delay in delays])
    # 0 for a joint between two of its commands, else the distance from the nearest command
    error = np.maximum(np.maximum(apart.min(axis=0), -apart.max(axis=0)), 0.0)
    worst = np.abs(apart).max(axis=1)
    k = int(np.argmin(worst))
    return Tracking(delays[k], float(worst[k]), error)


def fine_tracking(joints: Sequence[str], commanded: Callable[[float], MotionState],
                  measured: JointStates, least: float = -MAX_LEAD) -> Tracking:
    """Compare as `tracking` does, FINE_STEP apart, around the delay at which the joints fit."""
    delay = tracking(joints, commanded, measured, least).delay
    return tracking(joints, commanded, measured, delay - DELAY_STEP, delay + DELAY_STEP,
                    FINE_STEP)
