"""Differences of joint positions, of continuous joints within half a turn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Robot


def is_near(robot: Robot, joint: str, one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two positions of a joint are equal, also if whole turns apart."""
    first, second = (robot.to_q({joint: value}) for value in (one, other))
    if robot.joint(joint).is_scalar:
        at = robot.joint(joint).index
        return bool(abs(offset(robot, [joint], first[[at]], second[[at]])) <= tolerance)
    return bool(np.abs(pin.difference(robot.model, first, second)).max() <= tolerance)


def offset(robot: Robot, joints: Sequence[str], one: Array, other: Array) -> Array:
    """Return the differences one - other (..., n); of continuous joints, within half a turn."""
    apart: Array = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    turning = [robot.joint(joint).kind == 'continuous' for joint in joints]
    apart[..., turning] = np.remainder(apart[..., turning] + np.pi, 2 * np.pi) - np.pi
    return apart
