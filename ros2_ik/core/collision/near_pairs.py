"""Broad phase: the pairs of items whose boxes are near each other at joint values."""

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

UNBOUNDED = 1e6     # half the size of a box that stands for an unbounded one [m]


class PairsAt(NamedTuple):
    """
    What is known of pairs (p,) at q (nq,).

    `least` are lower bounds of their signed distances less their margins [m], `closing` by how
    much they came nearer to each other at most since the configuration before [m]. `nearest` was
    the smallest of `least` at first.
    """

    q: Array
    placed: Array
    least: Array
    closing: Array
    nearest: float


class NearPairs:
    """Finds the pairs (p, 2) of items whose boxes are not more than `margins` (p,) [m] apart."""

    def __init__(self, robot: Robot, items: Sequence[CollisionGeometry], pairs: Indices,
                 margins: Array) -> None:
        tree = _joint_tree(robot)
        joints = np.array([item.joint for item in items], dtype=np.intp)
        lower, upper = _boxes_of(items)
        placements = np.reshape([item.placement.homogeneous for item in items], (-1, 4, 4))
        placements[:, :3, 3:] += placements[:, :3, :3] @ ((lower + upper) / 2)[:, :, None]
        mounts = tree.mounting[joints]      # of the joints' own frames on their bodies
        turns = mounts[:, :9].reshape(-1, 3, 3)
        centred = np.empty((len(items), 12))
        centred[:, :9] = (turns @ placements[:, :3, :3]).reshape(-1, 9)
        centred[:, 9:] = (turns @ placements[:, :3, 3:])[:, :, 0] + mounts[:, 9:]
        numbers = np.concatenate([tree.multiplier, tree.offset, tree.before.reshape(-1),
                                  centred.reshape(-1)])
        motions = np.cumsum([0, *(6 if kind == FLOATING else 1 for kind in tree.kind)])
        layout = np.array([    # of a program without functions, see `layout_of`
            0, len(tree.parent), len(items), 0, 0, *tree.parent, *tree.kind, *tree.place,
            *tree.column, *motions, *tree.node[joints], 0, 0, 0, 0], dtype=np.int64)
        self._given = (numbers, layout, (upper - lower) / 2,
                       np.ascontiguousarray(pairs, dtype=np.int64), margins)
        self._unknown = np.full(len(margins), -np.inf)
        self._near, self._follow = near_pairs.run, follow_pairs.run    # compiled now

    def at(self, q: Array) -> list[int]:
        """Return the numbers of the pairs at q (nq,), in their order."""
        near = np.empty(len(self._given[-1]), dtype=np.int64)
        count = self._near(np.ascontiguousarray(q), *self._given, near)
        numbers: list[int] = near[:count].tolist()
        return numbers

    def follow(self, q: Array, before: PairsAt | None = None) -> PairsAt:
        """Return lower bounds of all distances at q (nq,), tighter with those of a q `before`."""
        margins = self._given[-1]
        placed, least, closing = np.empty((len(self._given[2]), 12)), *np.empty((2, len(margins)))
        was, known = (placed, self._unknown) if before is None else (before.placed, before.least)
        nearest = self._follow(np.ascontiguousarray(q), *self._given, was, known, placed, least,
                               closing)
        return PairsAt(q.copy(), placed, least, closing, nearest)    # whose q may be changed


@lru_cache(maxsize=8)
def _joint_tree(robot: Robot) -> Tree:
    """Return the robot's tree with the frame of each of Pinocchio's joints."""
    model = robot.model
    frames = tuple(0 if index == 0 else model.getFrameId(name, pin.FrameType.JOINT)
                   for index, name in enumerate(model.names))
    return tree_of(robot, frames, tuple(robot.joint_names), robot.neutral)


def _boxes_of(items: Sequence[CollisionGeometry]) -> tuple[Array, Array]:
    """Return the lower and the upper ends (i, 3) of the boxes round items, in their own frames."""
    boxes = [item.geometry.aabb_local for item in items]
    ends = [np.reshape([each.min_ for each in boxes], (-1, 3)),
            np.reshape([each.max_ for each in boxes], (-1, 3))]
    lower, upper = (np.clip(np.where(np.isnan(some), unknown, some), -UNBOUNDED, UNBOUNDED)
                    for some, unknown in zip(ends, (-UNBOUNDED, UNBOUNDED), strict=True))
    return lower, upper
