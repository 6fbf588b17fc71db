"""Signed distances, with gradients, between the convex parts of what is checked."""

from bisect import insort
from collections.abc import Iterator, Sequence
from functools import cached_property
import time
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.kernels.source import is_compiled
from ros2_ik.core.robot.jacobian_masks import follower_reduction
from ros2_ik.core.scene.collision_geometry import CollisionGeometry
from ros2_ik.core.scene.contacts import Contact, Distances
from ros2_ik.core.scene.convex_parts import part_geometries
from ros2_ik.core.scene.near_pairs import NearPairs, PairsAt
from ros2_ik.core.scene.octree_pairs import OctreePairs
from ros2_ik.core.scene.pair_model import geometries_model, PairModel

LOOK_AGAIN = 5.0     # for parts that another process may have made meanwhile [s]
_TURN, _TURN2 = [1, 2, 0], [2, 0, 1]    # of the indices in a cross product


class DistanceCheck:
    """
    Distances of the pairs of a model, of the parts of meshes in place of their hulls.

    `chosen` is what the model was made of; without it distances are those of the hulls.
    `is_coarse` where hulls had to stand in for parts.
    """

    def __init__(self, pairs: PairModel, chosen: Mask | Indices | None = None) -> None:
        self._waiting: list[CollisionGeometry] = []
        self._pairs, self._numbers = pairs, np.arange(len(pairs))
        if chosen is not None:
            self._waiting = [item for item in pairs.items
                             if item.solid is not None and item.solid.part_geometries is None]
            self._pairs, self._numbers = _of_parts(pairs, chosen)
        self._octrees = OctreePairs(self._pairs)
        self._looked = time.monotonic()
        self._margins: list[float] = self._pairs.margins.tolist()

    @property
    def is_coarse(self) -> bool:
        return bool(self._waiting)

    def is_refinable(self) -> bool:
        """Return whether parts were made since; looks once in a while, on disk."""
        if time.monotonic() < self._looked + LOOK_AGAIN:
            return False
        self._looked = time.monotonic()
        return any(item.solid is not None and item.solid.has_parts() for item in self._waiting)

    def move(self, name: str, change: Any) -> None:
        """Move an object in the world by `change` (SE3) from where it was made."""
        for number, given, item in self._world.get(name, ()):
            item.placement = placement = change * given
            self.near_pairs.move(number, placement)

    @cached_property
    def _world(self) -> dict[str, list[tuple[int, Any, Any]]]:
        """
        Return the items in the world, by the name of their object.

        Of each its number, the placement it was made with and Pinocchio's object.
        """
        found: dict[str, list[tuple[int, Any, Any]]] = {}
        for number, (item, made) in enumerate(zip(
                self._pairs.items, self._pairs.model.geometryObjects, strict=True)):
            if item.joint == 0:
                found.setdefault(item.name, []).append((number, item.placement, made))
        return found

    def contacts(self, data: Any, touching: Sequence[int]) -> Iterator[Contact]:
        """Return the contacts of parts in pairs known to touch where `data` has the joints."""
        pairs, placed = self._pairs, self._pairs.place(data)
        least = pairs.bounds.at(data.oMi.tolist()) - pairs.margins
        for number in touching:
            parts = np.flatnonzero(self._numbers == number)
            # what touches by a hair may not for the distance of convex parts
            near = parts[least[parts] <= 0.0].tolist() or [int(parts[least[parts].argmin()])]
            found = [self._contact(k, placed) for k in near]
            yield max(found, key=lambda contact: contact.depth)

    def _contact(self, k: int, placed: Any) -> Contact:
        self._compute(k, placed)
        result = placed.distanceResults[k]
        point = (result.getNearestPoint1() + result.getNearestPoint2()) / 2
        # it is known to touch, so that it is apart by rounding, or in a hole that is covered
        depth = max(float(self._margins[k] - result.min_distance), 0.0)
        return Contact(*self._pairs.names[k], depth, tuple(point.tolist()))

    def _compute(self, k: int, placed: Any) -> None:
        """Compute the distance of a pair where the items are."""
        pin.computeDistance(self._pairs.model, placed, k)
        if k in self._octrees.numbers and placed.distanceResults[k].min_distance <= 0:
            self._octrees.find_deepest(k, placed.oMg, placed.distanceResults[k])
        elif k in self._octrees.ellipsoids:
            self._octrees.find_nearest(k, placed.oMg, placed.distanceResults[k])

    def distances(self, q: Array, data: Any, influence: float, most: int | None) -> Distances:
        """Return those below `influence` at q; `data` has joint placements and Jacobians there."""
        pairs = self._pairs
        placed = pairs.place(data)
        results, margins = pairs.distance_results, self._margins
        found: list[tuple[float, int]] = []
        farthest = influence
        for k, least in self._near(q, data.oMi, influence):
            if least > farthest:
                break
            self._compute(k, placed)
            distance = results[k].min_distance - margins[k]
            if distance < influence:
                insort(found, (distance, k))
                if most is not None and len(found) >= most:
                    del found[most:]
                    farthest = found[-1][0]
        return self._gathered(found, np.reshape(data.J, (6, -1)))

    def look(self, data: Any, at: PairsAt, reach: Array, most: int) -> Distances:
        """
        Return the distances below their `reach` (p,) of the pairs, at most the nearest `most`.

        `data` has joint placements and Jacobians where what is known of them is `at`; that is
        made exact for the pairs that were looked at.
        """
        near = np.flatnonzero(~(at.least >= reach))
        placed, margins = self._pairs.place(data), self._margins
        results = self._pairs.distance_results
        found: list[tuple[float, int]] = []
        farthest, least = np.inf, at.least
        for k in near[least[near].argsort(kind='stable')].tolist():
            if least[k] > farthest:
                break
            self._compute(k, placed)
            least[k] = distance = results[k].min_distance - margins[k]
            if distance < reach[k]:
                insort(found, (distance, k))
                if len(found) >= most:
                    del found[most:]
                    farthest = found[-1][0]
        return self._gathered(found, np.reshape(data.J, (6, -1)))

    def _near(self, q: Array, placements: Any, influence: float) -> list[tuple[int, float]]:
        """Pairs that may be that near and their least distances, those first that may be least."""
        if len(self._pairs) < 2:
            return [(k, -np.inf) for k in range(len(self._pairs))]
        if is_compiled():
            return self.near_pairs.least(q, influence)
        least = self._pairs.bounds.at(placements.tolist()) - self._pairs.margins
        near = np.flatnonzero(least < influence)
        least = least[near]
        order = least.argsort(kind='stable')
        return list(zip(near[order].tolist(), least[order].tolist(), strict=True))

    @cached_property
    def near_pairs(self) -> NearPairs:
        pairs = self._pairs
        return NearPairs(pairs.robot, pairs.items, pairs.pairs, pairs.margins)

    def _gathered(self, found: list[tuple[float, int]], twists: Array) -> Distances:
        if not found:      # nothing near
            none = np.zeros((0, 3))
            return Distances((), np.zeros(0), none, none, none, np.zeros((0, 6)),
                             np.zeros((0, self._pairs.robot.nv)))
        numbers, results = [k for _, k in found], self._pairs.distance_results
        wrench = np.empty((len(found), 6))
        normal, moment = wrench[:, :3], wrench[:, 3:]
        one, other = np.empty((2, len(found), 3))
        for i, k in enumerate(numbers):
            result = results[k]
            normal[i], one[i], other[i] = (result.normal, result.getNearestPoint1(),
                                           result.getNearestPoint2())
        # the witnesses lie along the normal, so that its moment is the same at both
        np.subtract(other[:, _TURN] * normal[:, _TURN2], other[:, _TURN2] * normal[:, _TURN],
                    out=moment)
        J = (wrench @ twists) * self._pairs.moves[numbers]
        reduction = follower_reduction(self._pairs.robot)
        return Distances(tuple(self._pairs.names[k] for k in numbers),
                         np.array([distance for distance, _ in found]), normal, one, other, wrench,
                         J if reduction is None else J @ reduction)


def _of_parts(pairs: PairModel, chosen: Mask | Indices) -> tuple[PairModel, Indices]:
    """Return the model of the convex parts, and which pair each of its pairs is of."""
    if all(item.solid is None for item in pairs.items):
        return pairs, np.arange(len(pairs))
    items: list[CollisionGeometry] = []
    owners: list[int] = []
    for i, item in enumerate(pairs.items):
        parts = part_geometries(item)
        items += [item._replace(geometry=part, solid=None) for part in parts]
        owners += [i] * len(parts)
    owner = np.array(owners, dtype=np.intp)
    if chosen.dtype == bool:
        expanded = chosen[np.ix_(owner, owner)]
    else:
        expanded = np.array([(one, other) for first, second in chosen.tolist()
                             for one in np.flatnonzero(owner == first)
                             for other in np.flatnonzero(owner == second)],
                            dtype=np.intp).reshape(-1, 2)
    model = PairModel(pairs.robot, geometries_model(items), items, expanded)
    number = np.full((len(pairs.items),) * 2, -1, dtype=np.intp)
    number[tuple(pairs.pairs.T)] = np.arange(len(pairs))
    numbers = number[tuple(owner[model.pairs].T)]
    model.margins = pairs.margins[numbers]
    return model, numbers
