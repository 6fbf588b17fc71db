"""Signed distances between convex parts, and their gradients."""

from bisect import insort
from collections.abc import Iterator, Sequence
from itertools import repeat
import time

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.collision.broad_phase import BroadPhase, DistanceBounds
from ros2_ik.core.collision.collision_geometry import CollisionGeometry
from ros2_ik.core.collision.contacts import Contact, Distances
from ros2_ik.core.collision.pair_model import DISTANCE_REQUEST, follower_reduction, PairModel
from ros2_ik.core.kernels.boxes import fill_distance_slopes

PARTS_CHECK_PERIOD = 5.0     # interval of checks for convex parts made by other processes [s]


class DistanceCheck:
    """
    Distance check of the pairs of a model.

    A mesh is replaced by its convex parts, or by its hull until its parts are on disk (see
    `is_outdated`).
    """

    def __init__(self, pairs: PairModel) -> None:
        # meshes without parts on disk
        self._unsplit_meshes = [item.mesh for item in pairs.items
                                if item.mesh is not None and not item.mesh.has_parts]
        self._pairs, self._owner_pairs = _of_parts(pairs)
        self._checked_at = time.monotonic()
        pairs = self._pairs
        # names of the objects moved last, and the result of `_items_of`
        self._moving: tuple[Sequence[str], Indices, Indices, Array] | None = None
        # pose of the object of each moved item
        self._poses = np.empty((len(pairs.items), 4, 4))
        # True if Pinocchio's model has an older pose of the item
        self._is_stale = np.zeros(len(pairs.items), dtype=bool)
        self.broad_phase = BroadPhase(pairs.robot, pairs.items, pairs.pairs, pairs.margins)
        self._margins: list[float] = pairs.margins.tolist()
        self._fill_slopes = fill_distance_slopes.run    # compile now

    def is_outdated(self) -> bool:
        """Return True if missing parts are now on disk; check only once per PARTS_CHECK_PERIOD."""
        if not self._unsplit_meshes or time.monotonic() < self._checked_at + PARTS_CHECK_PERIOD:
            return False
        self._checked_at = time.monotonic()
        return any(mesh.has_parts for mesh in self._unsplit_meshes)

    def move(self, names: Sequence[str], poses: Array) -> None:
        """Move world objects, by name, to `poses` (k, 4, 4) in the root frame."""
        # look the items up again only if `names` has changed
        if self._moving is None or names != self._moving[0]:
            self._moving = (names, *self._items_of(names))
        _, numbers, places, centres = self._moving
        of_items = poses[places]
        self.broad_phase.place(numbers, of_items @ centres)
        self._poses[numbers], self._is_stale[numbers] = of_items, True

    def _items_of(self, names: Sequence[str]) -> tuple[Indices, Indices, Array]:
        """Return item numbers, indices of their objects in `names`, box poses in the objects."""
        index = {name: i for i, name in enumerate(names)}
        found = [(number, index[item.name], item.in_object)
                 for number, item in enumerate(self._pairs.items)
                 if item.in_object is not None and item.name in index]
        numbers, places = np.array([each[:2] for each in found], dtype=np.intp).reshape(-1, 2).T
        in_object = np.reshape([T for _, _, T in found], (-1, 4, 4))
        return numbers, places, in_object @ self.broad_phase.centres[numbers]

    def _place(self, data: pin.Data, pairs: Indices) -> pin.GeometryData:
        """Place items at the joint placements in `data`; moved objects only if in `pairs`."""
        # updating all moved objects in Pinocchio's model would take longer than a servo step
        if self._moving:
            items = self._pairs.pairs[pairs].ravel()
            for number in np.unique(items[self._is_stale[items]]).tolist():
                made, item = self._pairs.model.geometryObjects[number], self._pairs.items[number]
                made.placement = pin.SE3(self._poses[number] @ item.in_object)
            self._is_stale[items] = False
        return self._pairs.place(data)

    def contacts(self, q: Array, data: pin.Data, touching: Sequence[int]) -> Iterator[Contact]:
        """Yield the deepest contact of each `touching` pair; `data` has joint placements at q."""
        placed = self._place(data, np.arange(len(self._pairs)))
        least = self.broad_phase.bounds_at(q).lower_bounds
        for number in touching:
            parts = np.flatnonzero(self._owner_pairs == number)
            # if rounding makes the bounds of all pairs of parts positive, take the nearest pair
            near = parts[least[parts] <= 0.0].tolist() or [int(parts[least[parts].argmin()])]
            found = [self._contact(k, placed) for k in near]
            yield max(found, key=lambda contact: contact.depth)

    def _contact(self, k: int, placed: pin.GeometryData) -> Contact:
        placed.distanceRequests[k] = DISTANCE_REQUEST
        pin.computeDistance(self._pairs.model, placed, k)
        result = placed.distanceResults[k]
        point = (result.getNearestPoint1() + result.getNearestPoint2()) / 2
        # parts that are apart have depth 0; at least one pair of parts touches, up to rounding
        depth = max(float(self._margins[k] - result.min_distance), 0.0)
        return Contact(*self._pairs.names[k], depth, tuple(point.tolist()))

    def distances(self, data: pin.Data, at: DistanceBounds, reach: Array | float,
                  max_count: int | None) -> Distances:
        """
        Return the `max_count` (None: all) smallest distances below `reach`, a number or (p,) [m].

        `data` has joint placements and Jacobians at `at.q`. `at.lower_bounds` gets the exact
        value for each pair whose distance was computed.
        """
        found: list[tuple[float, int]] = []
        computed, farthest, bounds = list[float](), np.inf, at.lower_bounds
        # pairs in ascending order of their lower bounds; NaN counts as near
        near, = (~(bounds >= reach)).nonzero()
        near = near[bounds[near].argsort(kind='stable')]
        placed = self._place(data, near)
        model, margins, results = self._pairs.model, self._margins, self._pairs.distance_results
        requests = placed.distanceRequests
        reaches = repeat(reach) if isinstance(reach, float) else reach[near].tolist()
        for k, least, limit in zip(near.tolist(), bounds[near].tolist(), reaches, strict=False):
            # this pair and all later pairs are farther than the `max_count` nearest
            if least > farthest:
                break
            requests[k] = DISTANCE_REQUEST
            pin.computeDistance(model, placed, k)
            distance = results[k].min_distance - margins[k]
            computed.append(distance)
            if distance < limit:
                insort(found, (distance, k))
                if max_count is not None and len(found) >= max_count:
                    del found[max_count:]
                    farthest = found[-1][0]
        bounds[near[:len(computed)]] = computed
        # data.J has one dimension if the robot has one joint
        return self._gathered(found, data.J.reshape(6, -1))

    def _gathered(self, found: list[tuple[float, int]], twists: Array) -> Distances:
        if not found:    # the usual case: no pair is near
            none = np.zeros((0, 3))
            return Distances((), np.zeros(0), none, none, none,
                             np.zeros((0, self._pairs.robot.nv)))
        numbers, results = [k for _, k in found], self._pairs.distance_results
        normal, one, other = np.empty((3, len(found), 3))
        for i, k in enumerate(numbers):
            result = results[k]
            normal[i], one[i], other[i] = (result.normal, result.getNearestPoint1(),
                                           result.getNearestPoint2())
        J = np.empty((len(found), twists.shape[1]))
        self._fill_slopes(normal, other, twists, self._pairs.moves, np.array(numbers), J)
        reduction = follower_reduction(self._pairs.robot)
        return Distances(tuple(self._pairs.names[k] for k in numbers),
                         np.array([distance for distance, _ in found]), normal, one, other,
                         J if reduction is None else J @ reduction)


def _of_parts(pairs: PairModel) -> tuple[PairModel, Indices]:
    """Return a model of the pairs of convex parts, and the index of the original pair for each."""
    if all(item.mesh is None for item in pairs.items):
        return pairs, np.arange(len(pairs))
    items: list[CollisionGeometry] = []
    owners: list[int] = []
    for i, item in enumerate(pairs.items):
        parts = [item.geometry] if item.mesh is None else [
            hull.geometry for hull in item.mesh.convex_solids]
        items += [item._replace(geometry=part, mesh=None) for part in parts]
        owners += [i] * len(parts)
    # check a pair of parts if the pair of their items is checked
    owner = np.array(owners, dtype=np.intp)
    model = PairModel(pairs.robot, items, pairs.pair_mask[np.ix_(owner, owner)])
    # matrix (items, items) of indices of pairs; -1: not checked
    number = np.full((len(pairs.items),) * 2, -1, dtype=np.intp)
    number[tuple(pairs.pairs.T)] = np.arange(len(pairs))
    numbers = number[tuple(owner[model.pairs].T)]
    model.margins = pairs.margins[numbers]
    return model, numbers
