"""The motion that ends a motion."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.motion.motion import Motion
from ros2_ik.core.motion.motion_limits import MotionLimits
from ros2_ik.core.motion.timing import start_of, timed, velocity_control


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
