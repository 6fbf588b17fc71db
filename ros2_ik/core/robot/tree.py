"""The bodies that joints move, and the frames fixed to them, flattened for compiled loops."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.robot.robot import Robot

PRISMATIC, REVOLUTE, FLOATING = range(3)
_KINDS = {'floating': FLOATING, 'prismatic': PRISMATIC}     # all others turn
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Tree:
    """
    The joints in `names` that move some frames, parents first.

    Body k hangs on body `parent` (-1: the root) at `before` (12,), a rotation row by row and a
    position. Its joint, of a `kind`, then turns about z, or moves along z, by `multiplier` x +
    `offset` with x value `place` of those active; a floating one takes seven values from there as
    they are. `column` is the first of its columns in the tangent space of the active joints. Frame
    i is fixed to body `node` (-1: the root) at `mounting` (12,).
    """

    parent: Indices
    kind: Indices
    place: Indices
    column: Indices
    multiplier: Array
    offset: Array
    before: Array
    node: Indices
    mounting: Array

    def supports(self, frame: int) -> frozenset[int]:
        """Return the bodies whose joints move a frame."""
        found, body = set(), int(self.node[frame])
        while body >= 0:
            found.add(body)
            body = int(self.parent[body])
        return frozenset(found)


@lru_cache(maxsize=256)
def locked_q_indices(robot: Robot, frames: tuple[int, ...], names: tuple[str, ...]) -> Indices:
    """Return the places in q of the joints that move frames and are not in `names`."""
    moving = frozenset[str]().union(*(robot.joints_between(frame, 0) for frame in frames))
    return np.array([joint.index + i for joint in robot.joints for i in range(joint.size)
                     if joint.name in moving and joint.name not in names], dtype=np.intp)


def tree_of(robot: Robot, frames: tuple[int, ...], names: tuple[str, ...], start: Array) -> Tree:
    """
    Flatten the ways to some frames (Pinocchio's indices).

    Joints not in `names` stay at their values in `start` (nq,).
    """
    # not the scratch data: whoever binds something may be in the middle of using it
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, start)
    active = _active_places(robot, names)
    # where each joint's own frame stands: on which body, and where there
    stands: dict[int, tuple[int, pin.SE3]] = {0: (-1, pin.SE3.Identity())}
    before, rows = [], []
    for index in sorted({int(i) for frame in frames    # parents first
                         for i in model.supports[model.frames[frame].parentJoint]} - {0}):
        body, pending = stands[int(model.parents[index])]
        element, column = robot.elements[model.names[index]], model.joints[index].idx_v
        multiplier, offset = (1.0, 0.0) if element.mimic is None else element.mimic[1:3]
        if column not in active or multiplier == 0:
            stands[index] = body, pending * data.liMi[index]
            continue
        kind = _KINDS.get(element.kind, REVOLUTE)
        align = pin.SE3.Identity()      # turns z into the axis
        if kind != FLOATING:
            align.rotation = pin.Quaternion.FromTwoVectors(_Z, np.array(element.axis)).matrix()
        before.append(se3_to_array(pending * model.jointPlacements[index] * align))
        rows.append((body, kind, *active[column], multiplier, offset))
        stands[index] = len(rows) - 1, align.inverse()
    table = np.array(rows, dtype=float).reshape(-1, 6).T
    nodes = [stands[int(model.frames[frame].parentJoint)] for frame in frames]
    parent, kind, place, first = table[:4].astype(np.intp)
    return Tree(parent, kind, place, first, table[4], table[5],
                np.array(before).reshape(-1, 12),
                np.array([body for body, _ in nodes], dtype=np.intp),
                np.array([se3_to_array(place * model.frames[frame].placement)
                          for frame, (_, place) in zip(frames, nodes, strict=True)]))


def _active_places(robot: Robot, names: tuple[str, ...]) -> dict[int, tuple[int, int]]:
    """Return place among the active values and column, by column of the whole tangent space."""
    found: dict[int, tuple[int, int]] = {}
    place = column = 0
    for name in names:
        joint = robot.joint(name)
        for i in range(1 if joint.kind == 'floating' else joint.size):
            found[joint.velocity_index + i] = place + i, column + i
        place, column = place + joint.size, column + joint.velocity_size
    return found


def se3_to_array(T: pin.SE3) -> Array:
    """Return a placement as twelve numbers: rotation row by row, then position."""
    numbers = np.empty(12)
    numbers[:9] = T.rotation.reshape(-1)
    numbers[9:] = T.translation
    return numbers
