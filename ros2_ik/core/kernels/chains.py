"""The joints that lead to a tip, flattened to arrays for compiled loops."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
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
                     _Start(start))


@lru_cache(maxsize=256)
def _held(robot: Robot, tip: str, names: tuple[str, ...]) -> Indices:
    """Places in q of what moves a tip and is not in `names`."""
    moving = robot.moving_joints(tip)
    return np.array([joint.index + i for joint in robot.joints for i in range(joint.size)
                     if joint.name in moving and joint.name not in names], dtype=np.intp)


class _Start:
    """Joint values that the cache does not look at: those that count are in `held`."""

    def __init__(self, q: Array) -> None:
        self.q = q

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Start)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=256)
def _chain_to(robot: Robot, tip: str, names: tuple[str, ...], held: bytes,
              start: _Start) -> Chain | None:
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, start.q)
    # the extended Jacobian has a column for each joint, followers too; (6,) where there is one
    J = np.reshape(data.J, (6, -1))
    columns = _columns(robot, names)
    frame = model.frames[robot.frame_id(tip)]
    placements, rows, pending = [], [], pin.SE3.Identity()
    for index in [int(i) for i in model.supports[frame.parentJoint]][1:]:
        joint = model.joints[index]
        multiplier, offset = _follower(robot, model.names[index])
        if joint.idx_v not in columns or multiplier == 0:
            pending = pending * data.liMi[index]
            continue
        if columns[joint.idx_v] is None:
            return None
        motion = data.oMi[index].actInv(pin.Motion(J[:, joint.idx_vExtended] / multiplier))
        rotary = bool(motion.angular @ motion.angular > 0.5)
        align = _z_to(motion.angular if rotary else motion.linear)
        placements.append((pending * model.jointPlacements[index] * align).homogeneous)
        rows.append((rotary, columns[joint.idx_v], multiplier, offset))
        pending = align.inverse()
    table = np.array(rows, dtype=float).reshape(-1, 4).T.copy()
    return Chain(np.array(placements).reshape(-1, 4, 4), table[0], table[1].astype(np.intp),
                 table[2], table[3], np.ascontiguousarray((pending * frame.placement).homogeneous))


def _columns(robot: Robot, names: tuple[str, ...]) -> dict[int, int | None]:
    """Place among the free values by column of the tangent space; None for joints of several."""
    columns: dict[int, int | None] = {}
    place = 0
    for name in names:
        joint = robot.joint(name)
        for i in range(joint.velocity_size):
            columns[joint.velocity_index + i] = None if joint.kind == 'floating' else place + i
        place += joint.velocity_size
    return columns


def _follower(robot: Robot, name: str) -> tuple[float, float]:
    follower = robot.mimics.get(name)
    return (1.0, 0.0) if follower is None else (follower.multiplier, follower.offset)


def _z_to(axis: Array) -> pin.SE3:
    """Rotation that brings z onto an axis (3,)."""
    return pin.SE3(pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), axis), np.zeros(3))
