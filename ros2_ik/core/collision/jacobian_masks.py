"""Masks of the columns of Pinocchio's `data.J`, in which mimic joints have their own columns."""

from functools import lru_cache

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot.robot import Robot


@lru_cache(maxsize=1024)
def columns_carrying(robot: Robot, joint: int) -> Array:
    """Return a mask (n,): 1 for columns of `data.J` that move the body of a Pinocchio joint."""
    model = robot.model
    mask = np.zeros(model.nvExtended)
    for index in set(model.supports[joint]) - {0}:
        above = model.joints[index]
        mask[above.idx_vExtended:above.idx_vExtended + above.nvExtended] = 1.0
    mask.setflags(write=False)
    return mask


@lru_cache(maxsize=64)
def follower_reduction(robot: Robot) -> Array | None:
    """Return the matrix (n, nv) that adds mimic columns to their leaders'; None without mimics."""
    model = robot.model
    if model.nvExtended == robot.nv:
        return None
    reduction = np.zeros((model.nvExtended, robot.nv))
    for joint in list(model.joints)[1:]:
        for k in range(joint.nvExtended):
            reduction[joint.idx_vExtended + k, joint.idx_v + k] = 1.0
    reduction.setflags(write=False)
    return reduction
