"""Comparison of measured joints with their commands: delay and tracking error."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ros2_ik.core import Array, Motion, MotionState
from ros2_ik.node.controllers.controller import MAX_DELAY, MAX_LEAD
from ros2_ik.node.state.joint_states import JointStates, NOISE

DELAY_STEP = 0.02   # between two delays at which commands are evaluated [s]
N_SUBSTEPS = 10     # number of intervals into which interpolation divides a DELAY_STEP


class Tracking(NamedTuple):
    """
    Comparison of measured joints with their commands.

    `delay` [s] is the common delay at which the joints fit the commanded path best; `path_error`
    is the worst joint's distance from the path at that delay [rad, m]. `error` (n,) is each
    joint's distance from the range of its commands `least` to `most` seconds ago; see `tracking`.
    """

    delay: float
    path_error: float
    error: Array


def tracking(joints: Sequence[str], commanded: Callable[[float], MotionState],
             measured: JointStates, least: float = -MAX_LEAD, most: float = MAX_DELAY
             ) -> Tracking:
    """
    Compare measured joints with their commands `least` to `most` seconds ago (below 0: ahead).

    `commanded` returns the commanded state at a time of the motion clock [s]. Each joint is
    compared at the time of its own reading, since readings differ in age.
    """
    moments = [measured.oldest_time([joint]) for joint in joints]

    # joints of one message have the same time: evaluate the command once per time
    def commanded_before(delay: float) -> Array:
        states = {moment: commanded(moment - delay).position for moment in {*moments}}
        return np.array([states[moment][j] for j, moment in enumerate(moments)])
    # commands (k, n) at the k delays, and their differences from the measured positions
    delays = np.arange(least, most + DELAY_STEP / 2, DELAY_STEP)
    commands = np.array([commanded_before(delay) for delay in delays.tolist()])
    difference = measured.difference(joints, commands)
    # 0 for a joint between two of its commands, else the distance from the nearest command
    error = np.maximum(np.maximum(difference.min(axis=0), -difference.max(axis=0)), 0.0)
    # commands (k - 1, N_SUBSTEPS + 1, n), interpolated linearly between successive delays
    parts = np.linspace(0.0, 1.0, N_SUBSTEPS + 1)
    between = commands[:-1, None] + parts[:, None] * np.diff(commands, axis=0)[:, None]
    worst = np.abs(measured.difference(joints, between)).max(axis=2)
    k, part = divmod(int(np.argmin(worst)), len(parts))
    return Tracking(float(delays[k] + parts[part] * DELAY_STEP), float(worst[k, part]), error)


def stand_still(motion: Motion, start_time: float, measured: JointStates) -> bool:
    """
    Return whether joints have stayed at rest despite motion commanded more than MAX_DELAY ago.

    `start_time` is the start of the motion on the motion clock [s].
    """
    joints = motion.joints
    if not all(measured.get(joint) for joint in joints):
        return False
    time, rest = measured.oldest_time(joints) - start_time, measured.rest_time(joints)
    ignored = motion.at(time - MAX_DELAY).position - motion.at(time - rest).position
    return rest > MAX_DELAY and bool(np.abs(ignored).max() > NOISE)
