"""Broad phase: the pairs of items whose bounding boxes are near each other."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.collision.collision_geometry import CollisionGeometry
from ros2_ik.core.kernels.boxes import follow_pairs, near_pairs
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.tree import FLOATING, Tree, tree_of

LARGEST = 1e6    # half size of the box of an unbounded item [m]


class PairsAt(NamedTuple):
    """
    Lower bounds of the distances of p pairs at q (nq,).

    `placed` (i, 12) are the boxes' placements; `least` (p,) are lower bounds of signed distance
    minus margin [m]; `closing` (p,) is an upper bound on each distance's decrease since the
    previous configuration [m]. `nearest` is the smallest of `least` as first computed, before
    bounds are replaced by exact distances [m].
    """

    q: Array
    placed: Array
    least: Array
    closing: Array
    nearest: float


class NearPairs:
    """Finds the pairs (p, 2) of items whose boxes are at most `margins` (p,) [m] apart."""

    def __init__(self, robot: Robot, items: Sequence[CollisionGeometry], pairs: Indices,
                 margins: Array) -> None:
        (tree, mounts), joints = _bodies(robot), [item.joint for item in items]
        lower, upper = boxes_of(items)
        # the centres of the items' boxes, as poses in the items
        self.centres = np.tile(np.eye(4), (len(items), 1, 1))
        self.centres[:, :3, 3] = (lower + upper) / 2
        # loop arguments: a program whose frames are the boxes, with four empty tables of functions
        motions = np.cumsum([0, *(6 if kind == FLOATING else 1 for kind in tree.kind)])
        layout = np.concatenate([[0, len(tree.parent), len(items), 0, 0], tree.parent, tree.kind,
                                 tree.place, tree.column, motions, tree.node[joints], [0] * 4])
        numbers = np.concatenate([tree.multiplier, tree.offset, tree.before.reshape(-1),
                                  np.zeros(12 * len(items))])
        self._boxes = numbers[len(numbers) - 12 * len(items):].reshape(-1, 12)
        self.place(np.arange(len(items)), mounts[joints] @ np.reshape(
            [item.placement.homogeneous for item in items], (-1, 4, 4)) @ self.centres)
        self._given = (numbers, layout.astype(np.int64), (upper - lower) / 2,
                       np.ascontiguousarray(pairs, dtype=np.int64), margins)
        self._unknown = np.full(len(margins), -np.inf)
        self._near, self._follow = near_pairs.run, follow_pairs.run    # compile now

    def place(self, numbers: Indices, T: Array) -> None:
        """Set poses T (k, 4, 4) of boxes' centres in the tree's bodies, or in the root."""
        self._boxes[numbers, :9] = T[:, :3, :3].reshape(-1, 9)
        self._boxes[numbers, 9:] = T[:, :3, 3]

    def at(self, q: Array) -> list[int]:
        """Return the indices of the near pairs at q (nq,), ascending."""
        near = np.empty(len(self._given[-1]), dtype=np.int64)
        count = self._near(np.ascontiguousarray(q), *self._given, near)
        numbers: list[int] = near[:count].tolist()
        return numbers

    def follow(self, q: Array, before: PairsAt | None = None) -> PairsAt:
        """Return lower bounds of all distances at q (nq,), tighter if `before` is near q."""
        margins = self._given[-1]
        placed, least, closing = np.empty((len(self._boxes), 12)), *np.empty((2, len(margins)))
        was, known = (placed, self._unknown) if before is None else (before.placed, before.least)
        nearest = self._follow(np.ascontiguousarray(q), *self._given, was, known, placed, least,
                               closing)
        # a copy: the caller may change its q
        return PairsAt(q.copy(), placed, least, closing, nearest)


@lru_cache(maxsize=8)
def _bodies(robot: Robot) -> tuple[Tree, Array]:
    """Return the tree of all joints, and poses (j, 4, 4) of Pinocchio's joints in its bodies."""
    model = robot.model
    frames = tuple(0 if index == 0 else model.getFrameId(name, pin.FrameType.JOINT)
                   for index, name in enumerate(model.names))
    tree = tree_of(robot, frames, tuple(robot.joint_names), robot.neutral)
    # the tree's body frames have z along the joint axis: poses of joint frames in body frames
    mounts = [pin.SE3(row[:9].reshape(3, 3), row[9:]) * model.frames[frame].placement.inverse()
              for row, frame in zip(tree.mounting, frames, strict=True)]
    return tree, np.array([mount.homogeneous for mount in mounts])


def boxes_of(items: Sequence[CollisionGeometry]) -> tuple[Array, Array]:
    """Return the lower and upper corners (i, 3) of the items' AABBs, in their own frames [m]."""
    # coal's corners of unbounded shapes are huge or NaN
    boxes = [item.geometry.aabb_local for item in items]
    ends = [np.reshape([each.min_ for each in boxes], (-1, 3)),
            np.reshape([each.max_ for each in boxes], (-1, 3))]
    lower, upper = (np.clip(np.where(np.isnan(some), unknown, some), -LARGEST, LARGEST)
                    for some, unknown in zip(ends, (-LARGEST, LARGEST), strict=True))
    return lower, upper
