"""
The solid that a mesh stands for: its triangles, and what is inside of them.

coal knows triangles as a hollow surface. Two solids whose surfaces do not meet are apart or one
is inside the other; which of these is asked of one point of each connected part. Holes are covered
first, see `closed_mesh`.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.kernels import kernel
from ros2_ik.core.scene.cache import digest, remembered
from ros2_ik.core.scene.closing import closed_mesh, winding_number
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.meshes import Hull, triangle_tree

_DOT = 1e-12     # m, the size of a point


class TriangleSolid:
    """
    A mesh of `vertices` (n, 3) and `triangles` (m, 3), closed where these leave holes.

    `parts` returns convex solids that together contain it, for distances; before `has_parts`
    does, which `make_parts` brings about in seconds or minutes, that is its hull.
    `is_closed` is False where holes had to be covered: what is behind them counts as inside, but
    nobody knows.
    """

    def __init__(self, vertices: Array, triangles: Indices,
                 parts: Callable[[], tuple[Hull, ...]], has_parts: Callable[[], bool],
                 make_parts: Callable[[], None]) -> None:
        self._given = vertices, triangles
        self.parts, self.has_parts, self.make_parts = parts, has_parts, make_parts
        self._part_geometries: tuple[Any, ...] | None = None

    def prepare(self) -> None:
        """Make what checks need."""
        self.tree  # noqa: B018

    @cached_property
    def tree(self) -> Any:
        """The triangles as coal has them, those over holes too."""
        tree = triangle_tree(*self.closed)
        tree.computeLocalAABB()
        return tree

    @property
    def size(self) -> int:
        """Number of triangles."""
        return len(self._given[1])

    @property
    def part_geometries(self) -> tuple[Any, ...] | None:
        """The convex parts as coal has them, made once; None before there are any."""
        if self._part_geometries is None and self.has_parts():
            made = tuple(hull.geometry() for hull in self.parts())
            for part in made:
                part.computeLocalAABB()
            self._part_geometries = made
        return self._part_geometries

    @property
    def is_closed(self) -> bool:
        return bool(self._closed['was_closed'])

    @property
    def closed(self) -> tuple[Array, Indices]:
        """Vertices (n, 3) and triangles (m, 3) without holes, turned outward."""
        vertices = np.concatenate([self._given[0], self._closed['more']])
        return vertices, self._closed['triangles']

    @property
    def samples(self) -> Array:
        """One vertex of each connected part, (k, 3)."""
        samples: Array = self._closed['samples']
        return samples

    @property
    def points(self) -> Array:
        """All vertices that triangles use, (n, 3)."""
        vertices, triangles = self.closed
        points: Array = vertices[np.unique(triangles)]
        return points

    def contains(self, points: Array) -> Mask:
        """Whether points (k, 3) off the surface are inside, (k,)."""
        low, high = self._bounds
        number = kernel('winding') or winding_number
        return np.array([bool((point >= low).all() and (point <= high).all()
                              and any(number(corners, *point.tolist()) > 0.5
                                      for corners in self._corners))
                         for point in points], dtype=bool)

    def clearance(self, point: Array) -> float:
        """Distance [m] of a point (3,) from the surface, whatever side it is on."""
        distance = coal.distance(self.tree, _HERE, coal.Capsule(_DOT, _DOT),
                                 Placement(np.eye(3), point), coal.DistanceRequest(),
                                 coal.DistanceResult())
        return max(float(distance), 0.0)

    @cached_property
    def _corners(self) -> tuple[Array, ...]:
        """
        The triangles (m, 3, 3) of which those round a point tell that it is inside.

        Of an open mesh also those given: where gaps are everywhere, covers enclose nothing, but
        about the whole of them still winds round what is inside (Jacobson et al., Robust
        inside-outside segmentation using generalized winding numbers, 2013).
        """
        both = (self.closed,) if self.is_closed else (self.closed, self._given)
        return tuple(np.ascontiguousarray(vertices[triangles]) for vertices, triangles in both)

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        points = self.points
        return points.min(axis=0), points.max(axis=0)

    @cached_property
    def _closed(self) -> dict[str, Any]:
        key = digest(*(np.ascontiguousarray(array).tobytes() for array in self._given))
        return remembered('solids-2', key, self._examined)

    def _examined(self) -> dict[str, Any]:
        vertices, triangles, was_closed = closed_mesh(*self._given)
        return {'more': vertices[len(self._given[0]):], 'triangles': triangles,
                'was_closed': np.array(was_closed), 'samples': _one_of_each(vertices, triangles)}


def _one_of_each(vertices: Array, triangles: Indices) -> Array:
    """Return a vertex of each part whose triangles hang together, (k, 3)."""
    points, same = np.unique(vertices, axis=0, return_inverse=True)
    corners = same.reshape(-1)[triangles]
    start, end = corners[:, [0, 1]].reshape(-1), corners[:, [1, 2]].reshape(-1)
    links = coo_array((np.ones(len(start)), (start, end)), shape=(len(points), len(points)))
    labels = connected_components(links, directed=False)[1]
    used = np.unique(corners)
    _, first = np.unique(labels[used], return_index=True)
    return np.asarray(points[used[first]])


_HERE = Placement(np.eye(3), np.zeros(3))
