"""Which columns of Pinocchio's Jacobian of all joints move what."""

from functools import lru_cache

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot.robot import Robot


def column_count(robot: Robot) -> int:
    """Count the columns of Pinocchio's `data.J`; in Pinocchio 4 followers have their own."""
    return int(getattr(robot.model, 'nvExtended', robot.nv))


@lru_cache(maxsize=1024)
def columns_carrying(robot: Robot, joint: int) -> Array:
    """Return 1 for each column of `data.J` that moves what Pinocchio's joint carries."""
    model = robot.model
    mask = np.zeros(column_count(robot))
    for index in model.supports[joint]:
        above = model.joints[int(index)]
        if int(index):
            first = getattr(above, 'idx_vExtended', above.idx_v)
            mask[first:first + max(above.nv, 1)] = 1.0
    mask.setflags(write=False)
    return mask


@lru_cache(maxsize=64)
def follower_reduction(robot: Robot) -> Array | None:
    """Return what adds columns of followers to their leaders', or None without followers."""
    model, count = robot.model, column_count(robot)
    if count == robot.nv:
        return None
    reduction = np.zeros((count, robot.nv))
    for joint in list(model.joints)[1:]:
        for k in range(max(joint.nv, 1)):
            reduction[joint.idx_vExtended + k, joint.idx_v + k] = 1.0
    reduction.setflags(write=False)
    return reduction
