"""Motions that end a motion."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.motion.motion import Motion, together
from ros2_ik.core.motion.motion_limits import MotionLimits
from ros2_ik.core.motion.timing import start_of, timed_to_rest

HAIR = 1e-6   # so far outside its limits a joint may come to rest [rad, m]


def braking_motion(joints: Sequence[str], position: Any, velocity: Any,
                   limits: MotionLimits, acceleration: Any = None,
                   bounds: tuple[Any, Any] | None = None) -> Motion:
    """
    Make the fastest way to rest from positions (n,) and velocities (n,), all joints in step.

    With the `acceleration` (n,) at the start, by default 0, a motion that slows down already
    comes no farther than it would by itself. `bounds` are the lower and upper position limits
    (n,): where the way in step would leave them, each joint brakes as fast as it can by itself.

    Raises InvalidStateError for NaN.
    """
    names = tuple(joints)
    start, speed = start_of(names, position, velocity)
    rest = np.zeros(len(names))
    slowing = vector(rest if acceleration is None else acceleration,
                     'the accelerations at the start', len(names), InvalidStateError)
    # without an acceleration all joints stop in step on a straight way
    even = rest if slowing @ speed >= 0 else slowing
    motion = timed_to_rest(names, start, speed, even, limits)
    if bounds is None or _within(motion.goal, start, bounds):
        return motion
    own = np.where(slowing * speed < 0, slowing, 0.0)
    return together([timed_to_rest((name,), start[[k]], speed[[k]], own[[k]], limits.part([k]))
                     for k, name in enumerate(names)])


def _within(goal: Array, start: Array, bounds: tuple[Any, Any]) -> bool:
    """Return whether a way ends inside the bounds, or no farther outside than it began."""
    lower, upper = np.minimum(bounds[0], start), np.maximum(bounds[1], start)
    return bool(((lower - HAIR <= goal) & (goal <= upper + HAIR)).all())
