"""The motion that ends a motion."""

from collections.abc import Sequence
from typing import Any

from ros2_ik.core.motion.motion import Motion
from ros2_ik.core.motion.motion_limits import MotionLimits
from ros2_ik.core.motion.timing import start_of, timed, velocity_control


def braking_motion(joints: Sequence[str], position: Any, velocity: Any,
                   limits: MotionLimits) -> Motion:
    """
    Make the fastest way to rest from positions (n,) and velocities (n,), all joints in step.

    Raises InvalidStateError for NaN, InvalidOptionError without ruckig.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    rest = [0.0] * len(names)
    return timed(names, start, speed, limits, control_interface=velocity_control(),
                 target_velocity=rest, target_acceleration=rest)
