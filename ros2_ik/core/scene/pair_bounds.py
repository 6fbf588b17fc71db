"""How near each other pairs can be at most, from the boxes round them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.collision_geometry import CollisionGeometry

LARGEST = 1e6      # [m]; what is larger bounds nothing


class PairBounds:
    """
    Lower bounds of the signed distances of pairs of items, by upright boxes round them.

    A box is at least as near to everything as what is in it, and in contact at least as deep: so
    the distance of two boxes is a bound, whatever its sign.
    """

    def __init__(self, items: Sequence[CollisionGeometry], pairs: Indices) -> None:
        self._first, self._second = np.ascontiguousarray(pairs.T)
        self._joints, self._place = np.unique([item.joint for item in items], return_inverse=True)
        lower, upper = boxes_of(items)
        R = np.array([item.placement.rotation for item in items]).reshape(-1, 3, 3)
        p = np.array([item.placement.translation for item in items]).reshape(-1, 3, 1)
        self._turns, self._centres = R, R @ ((lower + upper) / 2)[:, :, None] + p
        self._halves = ((upper - lower) / 2)[:, :, None]

    def at(self, placements: Sequence[Any]) -> Array:
        """Return the bounds (k,) [m] where Pinocchio's joints have these placements (SE3)."""
        T = np.array([placements[joint].homogeneous for joint in self._joints])[self._place]
        R = T[:, :3, :3]
        centres = (R @ self._centres)[:, :, 0] + T[:, :3, 3]
        halves = (np.abs(R @ self._turns) @ self._halves)[:, :, 0]
        first, second = self._first, self._second
        gaps = (np.abs(centres.take(first, 0) - centres.take(second, 0))
                - halves.take(first, 0) - halves.take(second, 0))
        apart = np.maximum(gaps, 0.0)
        bound: Array = (np.sqrt(np.einsum('ki,ki->k', apart, apart))
                        + np.minimum(gaps.max(axis=1), 0.0))
        return bound


def boxes_of(items: Sequence[CollisionGeometry]) -> tuple[Array, Array]:
    """Return the lower and the upper ends (i, 3) of the boxes round items, in their own frames."""
    for item in items:
        item.geometry.computeLocalAABB()
    boxes = [item.geometry.aabb_local for item in items]
    lower, upper = (np.clip(np.where(np.isnan(ends), unknown, ends), -LARGEST, LARGEST)
                    for ends, unknown in ((np.reshape([box.min_ for box in boxes], (-1, 3)),
                                           -LARGEST),
                                          (np.reshape([box.max_ for box in boxes], (-1, 3)),
                                           LARGEST)))
    return lower, upper
