"""The joints that lead to a tip, flattened to arrays for compiled loops."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels.moving_parts import free_columns, held_places, motion_of, Uncompared
from ros2_ik.core.robot import Robot


class Chain(NamedTuple):
    """
    The joints on the way to a tip, and the fixed placements between them.

    `before` (s, 4, 4) is the fixed placement before each joint, which then turns about z or moves
    along z by `multiplier` q + `offset`; q is entry `column` of the free values. `after` (4, 4)
    leads to the tip.
    """

    before: Array
    rotary: Array
    column: Indices
    multiplier: Array
    offset: Array
    after: Array


def chain_to(robot: Robot, tip: str, names: tuple[str, ...], start: Array) -> Chain | None:
    """
    Flatten the way to a frame; joints not in `names` stay at their values in `start` (nq,).

    None where a joint of `names` on the way has more than one number.
    """
    held = _held(robot, tip, names)
    return _chain_to(robot, tip, names, start[held].tobytes() if len(held) else b'',
                     Uncompared(start))


@lru_cache(maxsize=256)
def _held(robot: Robot, tip: str, names: tuple[str, ...]) -> Indices:
    return held_places(robot, robot.moving_joints(tip), names)


@lru_cache(maxsize=256)
def _chain_to(robot: Robot, tip: str, names: tuple[str, ...], held: bytes,
              start: Uncompared) -> Chain | None:
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, start.q)
    columns = free_columns(robot, names)
    frame = model.frames[robot.frame_id(tip)]
    placements, rows, pending = [], [], pin.SE3.Identity()
    for index in [int(i) for i in model.supports[frame.parentJoint]][1:]:
        column = model.joints[index].idx_v
        motion = motion_of(robot, index, data) if column in columns else None
        if motion is None:
            pending = pending * data.liMi[index]
            continue
        if columns[column] is None:
            return None
        placements.append((pending * model.jointPlacements[index] * motion.align).homogeneous)
        rows.append((motion.rotary, columns[column], motion.multiplier, motion.offset))
        pending = motion.align.inverse()
    table = np.array(rows, dtype=float).reshape(-1, 4).T.copy()
    return Chain(np.array(placements).reshape(-1, 4, 4), table[0], table[1].astype(np.intp),
                 table[2], table[3], np.ascontiguousarray((pending * frame.placement).homogeneous))
