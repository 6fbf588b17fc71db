"""
Contact check: finds the pairs that are in contact.

Convex hulls are tested first: if they are apart, their contents are, too. If the hull of a mesh is
in contact, the mesh's triangles and the volume that they enclose decide.
"""

from collections.abc import Iterator
from functools import cached_property

import coal
import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision.broad_phase import BroadPhase
from ros2_ik.core.collision.collision_geometry import CollisionGeometry
from ros2_ik.core.collision.pair_model import DISTANCE_REQUEST, PairModel

TOLERANCE = 1e-6     # distance below which coal reports a contact [m]


class ContactCheck:
    """Contact check of the pairs of a model; threads may share it."""

    def __init__(self, pairs: PairModel) -> None:
        self._pairs = pairs
        self._last = -1     # last pair in contact, likely to be in contact again
        # pairs for which the hull test is exact: pairs without a mesh, and pairs with a half-space
        # (a half-space touches a mesh if and only if it touches the mesh's hull)
        hulls = [item.mesh is None for item in pairs.items]
        flat = [isinstance(item.geometry, coal.Halfspace) for item in pairs.items]
        self.is_hull_exact = [hulls[i] and hulls[j] or flat[i] or flat[j]
                              for i, j in pairs.pairs.tolist()]
        # Prepare meshes now: the time of the first check may be limited. `extremes` of meshes
        # fixed to the root are computed only when a check needs them: the servo adds world
        # objects between two steps, where time is limited, too.
        for item in pairs.items:
            if item.mesh is not None:
                item.mesh.geometry  # noqa: B018
                if item.joint > 0:
                    item.mesh.extremes  # noqa: B018
        self._broad_phase = BroadPhase(pairs.robot, pairs.items, pairs.pairs,
                                       np.maximum(pairs.margins, 0.0) + 2 * TOLERANCE)

    def collides(self, q: Array) -> bool:
        """Return whether any pair is in contact at q (nq,)."""
        return next(self._contacts(q), None) is not None

    def touching(self, q: Array) -> list[int]:
        """Return the indices of all pairs in contact at q (nq,)."""
        return sorted(self._contacts(q))

    def distance(self, k: int) -> coal.DistanceResult:
        """
        Return the distance of pair k, which this thread's last `touching` found in contact.

        If `is_hull_exact[k]` is False, the result is only an upper bound of the signed distance.
        """
        pairs = self._pairs if self.is_hull_exact[k] else self._triangles
        pairs.data.distanceRequests[k] = DISTANCE_REQUEST
        pin.computeDistance(pairs.model, pairs.data, k)
        return pairs.data.distanceResults[k]

    def _contacts(self, q: Array) -> Iterator[int]:
        """Yield the indices of the pairs in contact at q (nq,), likely and cheap pairs first."""
        # broad phase
        near = self._broad_phase.at(q)
        if not near:
            return
        pairs, data = self._pairs, self._pairs.robot.scratch_data()
        pin.forwardKinematics(pairs.robot.model, data, q)
        pairs.place(data)
        # order: the last pair in contact, pairs whose hulls decide, pairs that need triangles
        near.sort(key=self.is_hull_exact.__getitem__, reverse=True)
        last = self._last     # copied, since other threads may change `_last`
        if last in near:
            near.remove(last)
            near.insert(0, last)
        are_placed = False
        for k in near:
            if not pin.computeCollision(pairs.model, pairs.data, k):
                continue
            if not self.is_hull_exact[k]:
                # place the triangles only if needed: most hulls are apart
                if not are_placed:
                    self._triangles.place(data)
                    are_placed = True
                if not (pin.computeCollision(self._triangles.model, self._triangles.data, k)
                        or self._contains(k)):
                    continue
            self._last = k
            yield k

    @cached_property
    def _triangles(self) -> PairModel:
        items = [item if item.mesh is None else item._replace(geometry=item.mesh.geometry)
                 for item in self._pairs.items]
        triangles = PairModel(self._pairs.robot, items, self._pairs.pair_mask)
        triangles.margins = self._pairs.margins
        return triangles

    def _contains(self, k: int) -> bool:
        """Return whether one geometry of pair k, whose surfaces are apart, contains the other."""
        i, j = self._pairs.pairs[k].tolist()
        one, other = self._pairs.items[i], self._pairs.items[j]
        T_one, T_other = self._triangles.data.oMg[i], self._triangles.data.oMg[j]
        if any(isinstance(item.geometry, coal.Plane) for item in (one, other)):
            return False
        return _is_within(one, T_one, other, T_other) or _is_within(other, T_other, one, T_one)


def _is_within(inner: CollisionGeometry, T_inner: pin.SE3, outer: CollisionGeometry,
               T_outer: pin.SE3) -> bool:
    """Return whether a body of `inner` is inside `outer`'s mesh; the surfaces must be apart."""
    # coal treats shapes other than meshes as solid, and has already found no contact
    if outer.mesh is None:
        return False
    to_outer = T_outer.actInv(T_inner)
    return outer.mesh.contains_any(inner.body_points @ to_outer.rotation.T + to_outer.translation)
