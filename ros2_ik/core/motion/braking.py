"""Motions that end a motion."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.motion.motion import Motion, MotionState
from ros2_ik.core.motion.motion_limits import MotionLimits
from ros2_ik.core.motion.timing import check_count, start_of, timed, velocity_control


def braking_motion(joints: Sequence[str], position: Any, velocity: Any,
                   limits: MotionLimits, acceleration: Any = None) -> Motion:
    """
    Make the fastest way to rest from positions (n,) and velocities (n,), all joints in step.

    With the `acceleration` (n,) at the start, by default 0, a motion that slows down already
    comes no farther than it would by itself.

    Raises InvalidStateError for NaN, InvalidOptionError without ruckig.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    rest = [0.0] * len(names)
    slowing = vector(rest if acceleration is None else acceleration,
                     'the accelerations at the start', len(names), InvalidStateError)
    if slowing @ speed >= 0:   # without it, all joints stop in step on a straight way
        slowing = np.zeros(len(names))
    return timed(names, start, speed, limits, control_interface=velocity_control(),
                 current_acceleration=slowing.tolist(), target_velocity=rest,
                 target_acceleration=rest)


def even_braking_motion(joints: Sequence[str], position: Any, velocity: Any,
                        limits: MotionLimits, slack: float = 0.0) -> Motion:
    """
    Make the way to rest from positions (n,) and velocities (n,) with constant decelerations.

    All joints come to rest at once, on a straight way; the jerk is not limited. Who begins it up
    to `slack` [s] late or early, still moving with the velocity, and goes by a cubic polynomial
    from where he is then to its end, stays within the accelerations, too.

    Raises InvalidStateError for NaN.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    check_count(limits, len(names))
    # such a cubic decelerates by |v| / T + 6 |v| slack / T^2 at most: both ends of T
    most, fast = limits.acceleration, np.abs(speed)
    duration = float(((fast + np.sqrt(fast**2 + 24 * most * fast * slack))
                      / (2 * most)).max(initial=0.0))
    slowing = -speed / duration if duration else np.zeros(len(names))
    return Motion(names, duration, lambda time: MotionState(
        start + (speed + slowing * time / 2) * time, speed + slowing * time, slowing))
