"""How the joints of a robot move what hangs on them, for flattening to arrays."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.robot import Robot


class Motion(NamedTuple):
    """A joint that turns about, or moves along, the z of `align` in its own frame."""

    align: Any              # pinocchio.SE3
    rotary: bool
    multiplier: float
    offset: float


def motion_of(robot: Robot, index: int, data: Any) -> Motion | None:
    """
    Give how Pinocchio's joint of that index moves with its value in q, or its leader's.

    None where it does not: a follower with multiplier zero. `data` has joint Jacobians.
    """
    model = robot.model
    joint = model.joints[index]
    follower = robot.mimics.get(model.names[index])
    multiplier, offset = (1.0, 0.0) if follower is None else (follower.multiplier,
                                                              follower.offset)
    if multiplier == 0:
        return None
    # the extended Jacobian has a column for each joint, followers too; (6,) where there is one
    column = np.reshape(data.J, (6, -1))[:, getattr(joint, 'idx_vExtended', joint.idx_v)]
    motion = data.oMi[index].actInv(pin.Motion(column / multiplier))
    rotary = bool(motion.angular @ motion.angular > 0.5)
    axis = motion.angular if rotary else motion.linear
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), axis)
    return Motion(pin.SE3(turn, np.zeros(3)), rotary, multiplier, offset)


def free_columns(robot: Robot, names: tuple[str, ...]) -> dict[int, int | None]:
    """Place among the free values by column of the tangent space; None for joints of several."""
    columns: dict[int, int | None] = {}
    place = 0
    for name in names:
        joint = robot.joint(name)
        for i in range(joint.velocity_size):
            columns[joint.velocity_index + i] = None if joint.kind == 'floating' else place + i
        place += joint.velocity_size
    return columns


def held_places(robot: Robot, moving: frozenset[str], names: tuple[str, ...]) -> Indices:
    """Places in q of the joints `moving` something that are not in `names`."""
    return np.array([joint.index + i for joint in robot.joints for i in range(joint.size)
                     if joint.name in moving and joint.name not in names], dtype=np.intp)


class Uncompared:
    """Joint values (nq,) that a cache does not look at: those that count are in its key."""

    def __init__(self, q: Array) -> None:
        self.q = q

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Uncompared)

    def __hash__(self) -> int:
        return 0
