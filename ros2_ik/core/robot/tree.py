"""The kinematic tree of given frames and active joints, as flat arrays; the reach of a frame."""

from collections.abc import Collection
from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.robot.robot import Robot

PRISMATIC, REVOLUTE, FLOATING = range(3)
# joint kinds; all others, such as 'continuous', are REVOLUTE
_KINDS = {'floating': FLOATING, 'prismatic': PRISMATIC}
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Tree:
    """
    The bodies that the active joints move, parents before children, and the frames fixed to them.

    Each body has one joint. For body k:

    - `parent`: index of the parent body, -1 for the root;
    - `joint_placement` (12,): pose of the joint in the parent body (rotation by rows, position);
    - `kind` of the joint, which moves along z (PRISMATIC), rotates about z (REVOLUTE), or is
      FLOATING;
    - `value_index`: index of the joint value x among the active values (floating joint: index
      of its first value); the joint position is `multiplier` x + `offset`;
    - `column`: first column of the joint in the tangent space of the active joints.

    Frame i is fixed to body `frame_body[i]` (-1: the root) at the pose `frame_placement[i]` (12,).
    """

    parent: Indices
    kind: Indices
    value_index: Indices
    column: Indices
    multiplier: Array
    offset: Array
    joint_placement: Array
    frame_body: Indices
    frame_placement: Array

    def supports(self, frame: int) -> frozenset[int]:
        """Return the indices of the bodies whose joints move a frame."""
        found, body = set(), int(self.frame_body[frame])
        while body >= 0:
            found.add(body)
            body = int(self.parent[body])
        return frozenset(found)


def tree_of(robot: Robot, frames: tuple[int, ...], names: tuple[str, ...], start: Array) -> Tree:
    """
    Return the tree of the joints in `names` that move one of `frames` (Pinocchio's indices).

    All other joints stay at their values in `start` (nq,).
    """
    # create new data, because a caller may still be using the scratch data
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, start)
    active = _active_indices(robot, names)
    # by joint index: the body that the joint frame is fixed to, and the frame's pose in the body
    mounted: dict[int, tuple[int, pin.SE3]] = {0: (-1, pin.SE3.Identity())}
    joint_placements, rows = [], []
    # in the order of joints in the model: parents come before children
    for index in sorted({int(i) for frame in frames
                         for i in model.supports[model.frames[frame].parentJoint]} - {0}):
        body, pending = mounted[int(model.parents[index])]
        element, column = robot.elements[model.names[index]], model.joints[index].idx_v
        multiplier, offset = (1.0, 0.0) if element.mimic is None else element.mimic[1:3]
        # a joint that does not move: its child link is part of the parent body
        if column not in active or multiplier == 0:
            mounted[index] = body, pending * data.liMi[index]
            continue
        kind = _KINDS.get(element.kind, REVOLUTE)
        # rotation that maps z to the joint axis
        align = pin.SE3.Identity()
        if kind != FLOATING:
            align.rotation = pin.Quaternion.FromTwoVectors(_Z, np.array(element.axis)).matrix()
        joint_placements.append(se3_to_array(pending * model.jointPlacements[index] * align))
        rows.append((body, kind, *active[column], multiplier, offset))
        mounted[index] = len(rows) - 1, align.inverse()
    table = np.array(rows, dtype=float).reshape(-1, 6).T
    frame_bodies = [mounted[int(model.frames[frame].parentJoint)] for frame in frames]
    parent, kind, value_index, first = table[:4].astype(np.intp)
    return Tree(parent, kind, value_index, first, table[4], table[5],
                np.array(joint_placements).reshape(-1, 12),
                np.array([body for body, _ in frame_bodies], dtype=np.intp),
                np.array([se3_to_array(in_body * model.frames[frame].placement)
                          for frame, (_, in_body) in zip(frames, frame_bodies, strict=True)]))


def _active_indices(robot: Robot, names: tuple[str, ...]) -> dict[int, tuple[int, int]]:
    """Return {velocity index in the robot: (index in the active values, active column)}."""
    found: dict[int, tuple[int, int]] = {}
    index = column = 0
    for name in names:
        joint = robot.joint(name)
        for i in range(1 if joint.kind == 'floating' else joint.size):
            found[joint.velocity_index + i] = index + i, column + i
        index, column = index + joint.size, column + joint.velocity_size
    return found


def sphere_of_reach(robot: Robot, tip: str, moving: Collection[str], q: Array,
                    joint_limits: bool = True) -> tuple[Array, float, str] | None:
    """
    Return a sphere, centred on the first moving joint, that contains all positions of `tip`.

    Returns the centre (3,), the radius [m] and the name of this joint. Joints not in `moving` stay
    at their values in q (nq,). Returns None if no joint moves the tip, or if a planar, floating or
    unlimited prismatic joint does (any prismatic joint counts as unlimited if not `joint_limits`).
    """
    names = tuple(name for name in robot.joint_names if name in moving)
    tree = tree_of(robot, (robot.frame_id(tip),), names, q)
    if not len(tree.kind):
        return None
    # length of the stretched arm: distances between joints, plus largest prismatic extensions
    offsets = [*tree.joint_placement[1:, 9:], tree.frame_placement[0, 9:]]
    radius = float(np.linalg.norm(offsets, axis=1).sum())
    owners = [joint for joint in map(robot.joint, names) for _ in range(joint.size)]
    for k in np.flatnonzero(tree.kind != REVOLUTE):
        joint, is_bounded = owners[tree.value_index[k]], tree.kind[k] == PRISMATIC and joint_limits
        ends = (tree.multiplier[k] * end + tree.offset[k] for end in (joint.lower, joint.upper))
        radius += max(map(abs, ends)) if is_bounded else math.inf
    return ((tree.joint_placement[0, 9:], radius, owners[tree.value_index[0]].name)
            if math.isfinite(radius) else None)


def se3_to_array(T: pin.SE3) -> Array:
    """Return a pose as an array (12,): rotation matrix by rows, then position."""
    return np.concatenate([T.rotation.reshape(-1), T.translation])
