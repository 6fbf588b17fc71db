"""Which pairs of items may be near at joint values, from the boxes round the items."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels.boxes import follow_pairs, least_distances, near_pairs
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.tree import tree_of
from ros2_ik.core.scene.collision_geometry import CollisionGeometry
from ros2_ik.core.scene.pair_bounds import boxes_of


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
        bodies = _bodies(robot)
        lower, upper = boxes_of(items)
        places = [bodies.places[item.joint] * item.placement for item in items]
        turns = np.array([place.rotation for place in places]).reshape(-1, 3, 3)
        middles = np.array([place.translation for place in places]).reshape(-1, 3)
        self._centres, self._root = (lower + upper) / 2, bodies.places[0]
        middles += (turns @ self._centres[:, :, None])[:, :, 0]
        boxes = np.concatenate([turns.reshape(-1, 9), middles, (upper - lower) / 2], axis=1)
        nodes = np.array([bodies.nodes[item.joint] for item in items], dtype=np.int64)
        self._given = (bodies.table, bodies.motions, nodes, boxes,
                       np.ascontiguousarray(pairs, dtype=np.int64), margins)

    def move(self, number: int, placement: Any) -> None:
        """Put an item of the world elsewhere, at `placement` (SE3)."""
        place, boxes = self._root * placement, self._given[3]
        turn = place.rotation
        boxes[number, :9] = turn.reshape(-1)
        boxes[number, 9:12] = place.translation + turn @ self._centres[number]

    def at(self, q: Array) -> list[int]:
        """Return the numbers of the pairs at q (nq,), in their order."""
        near = np.empty(len(self._given[-1]), dtype=np.int64)
        count = near_pairs.run(np.ascontiguousarray(q), *self._given, near)
        numbers: list[int] = near[:count].tolist()
        return numbers

    def least(self, q: Array, influence: float) -> list[tuple[int, float]]:
        """
        Return the pairs that may be nearer than `influence` [m] at q (nq,), nearest first.

        Each with a lower bound of its signed distance less its margin.
        """
        near, least = np.empty(len(self._given[-1]), dtype=np.int64), np.empty(
            len(self._given[-1]))
        count = least_distances.run(np.ascontiguousarray(q), *self._given, influence, near, least)
        least = least[:count]
        order = least.argsort(kind='stable')
        return list(zip(near[order].tolist(), least[order].tolist(), strict=True))

    def follow(self, q: Array, before: PairsAt | None) -> PairsAt:
        """Return what is known of all pairs at q (nq,), from what was known of them before."""
        boxes, margins = self._given[3], self._given[5]
        placed, least, closing = np.empty((len(boxes), 12)), *np.empty((2, len(margins)))
        was, known = (np.zeros_like(placed), np.full(len(margins), -np.inf)) if before is None \
            else (before.placed, before.least)
        nearest = follow_pairs.run(np.ascontiguousarray(q), *self._given, was, known, placed,
                                   least, closing)
        return PairsAt(q.copy(), placed, least, closing, nearest)    # whose q may be changed


class _Bodies(NamedTuple):
    """A robot's tree as `near_pairs` takes it; node and place (SE3) there of each joint."""

    table: Indices
    motions: Array
    nodes: list[int]
    places: list[Any]


@lru_cache(maxsize=8)
def _bodies(robot: Robot) -> _Bodies:
    model = robot.model
    frames = tuple(0 if index == 0 else model.getFrameId(name, pin.FrameType.JOINT)
                   for index, name in enumerate(model.names))
    tree = tree_of(robot, frames, tuple(robot.joint_names), robot.neutral)
    places = [pin.SE3(row[:9].reshape(3, 3), row[9:]) * model.frames[frame].placement.inverse()
              for row, frame in zip(tree.mounting, frames, strict=True)]
    return _Bodies(np.column_stack([tree.parent, tree.kind, tree.place]).astype(np.int64),
                   np.column_stack([tree.before, tree.multiplier, tree.offset]),
                   tree.node.tolist(), places)
