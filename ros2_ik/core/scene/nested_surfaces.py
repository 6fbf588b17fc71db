"""
Which closed surfaces of a mesh are wholly inside others, and so may hollow them out.

Where two meet they overlap, and what is inside either is solid.
"""

from functools import cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.meshes import triangle_tree
from ros2_ik.core.scene.winding import winds_round

_HERE = Placement(np.eye(3), np.zeros(3))


class NestedSurfaces:
    """Closed `surfaces`, triangles (m, 3) each, of common `vertices` (n, 3)."""

    def __init__(self, vertices: Array, surfaces: list[Indices]) -> None:
        self._vertices, self._surfaces = vertices, surfaces
        points = [vertices[np.unique(surface)] for surface in surfaces]
        self._lows = np.array([some.min(axis=0) for some in points])
        self._highs = np.array([some.max(axis=0) for some in points])
        self._sizes = (self._highs - self._lows).prod(axis=1)
        self._tree = cache(self._made_tree)

    def from_largest(self) -> list[int]:
        """Return the numbers of the surfaces, each after those that it is inside of."""
        order: list[int] = np.argsort(-self._sizes, kind='stable').tolist()
        return order

    def around(self, number: int) -> int | None:
        """Return the smallest surface that a surface is wholly inside of, None without any."""
        return next((outer for outer in self.wider(number) if self._encloses(outer, number)), None)

    def wider(self, number: int) -> list[int]:
        """Return the surfaces round whose points is a box round those of one, smallest first."""
        wider = (self._lows <= self._lows[number]).all(axis=1) \
            & (self._highs >= self._highs[number]).all(axis=1) & (self._sizes > 0)
        wider[number] = False
        found = np.flatnonzero(wider)
        order: list[int] = found[np.argsort(self._sizes[found], kind='stable')].tolist()
        return order

    def _encloses(self, outer: int, inner: int) -> bool:
        """Return whether the surfaces do not meet, and one point of the inner one is inside."""
        met = coal.collide(self._tree(outer), _HERE, self._tree(inner), _HERE,
                           coal.CollisionRequest(), coal.CollisionResult())
        return not met and winds_round(self._vertices[self._surfaces[outer]],
                                       self._vertices[self._surfaces[inner][0, 0]])

    def _made_tree(self, number: int) -> Any:
        vertices, triangles = np.unique(self._surfaces[number], return_inverse=True)
        return triangle_tree(self._vertices[vertices], triangles.reshape(-1, 3))
