"""
The solid that a mesh stands for: its triangles, and what is inside of them.

coal knows triangles as a hollow surface. Two solids whose surfaces do not meet are apart or one
is inside the other; which of these is asked of one point of each connected part.
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
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.mesh_solids import surfaces
from ros2_ik.core.scene.meshes import Hull, triangle_tree

_DOT = 1e-12     # m, the size of a point


class TriangleSolid:
    """
    A mesh of `vertices` (n, 3) and `triangles` (m, 3).

    `parts` returns convex solids that together contain it, for distances; before `has_parts`
    does, which `make_parts` brings about in seconds or minutes, that is its hull. Where
    `is_closed` is False (triangles are missing or turned differently from their neighbours) there
    is no telling what is inside: those parts stand for it.
    """

    def __init__(self, vertices: Array, triangles: Indices,
                 parts: Callable[[], tuple[Hull, ...]], has_parts: Callable[[], bool],
                 make_parts: Callable[[], None]) -> None:
        self._vertices, self._triangles = vertices, triangles
        self.parts, self.has_parts, self.make_parts = parts, has_parts, make_parts
        self._part_geometries: tuple[Any, ...] | None = None

    def prepare(self) -> None:
        """Make what checks need."""
        self.tree, self._outward  # noqa: B018

    @cached_property
    def tree(self) -> Any:
        """The triangles as coal has them."""
        tree = triangle_tree(self._vertices, self._triangles)
        tree.computeLocalAABB()
        return tree

    @property
    def size(self) -> int:
        """Number of triangles."""
        return len(self._triangles)

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
        return bool(self._outward['closed'])

    @property
    def samples(self) -> Array:
        """One vertex of each connected part, (k, 3)."""
        samples: Array = self._outward['samples']
        return samples

    @property
    def points(self) -> Array:
        """All vertices that triangles use, (n, 3)."""
        points: Array = self._vertices[np.unique(self._triangles)]
        return points

    def contains(self, points: Array) -> Mask:
        """Whether points (k, 3) off the surface are inside a closed mesh, (k,)."""
        corners = self._corners
        low, high = self._bounds
        number = kernel('winding') or winding_number
        return np.array([bool((point >= low).all() and (point <= high).all()
                              and number(corners, *point.tolist()) > 0.5)
                         for point in points], dtype=bool)

    def clearance(self, point: Array) -> float:
        """Distance [m] of a point (3,) from the surface, whatever side it is on."""
        distance = coal.distance(self.tree, _HERE, coal.Capsule(_DOT, _DOT),
                                 Placement(np.eye(3), point), coal.DistanceRequest(),
                                 coal.DistanceResult())
        return max(float(distance), 0.0)

    @cached_property
    def _corners(self) -> Array:
        return np.ascontiguousarray(self._vertices[self._outward['triangles']])

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        points = self.points
        return points.min(axis=0), points.max(axis=0)

    @cached_property
    def _outward(self) -> dict[str, Any]:
        key = digest(np.ascontiguousarray(self._vertices).tobytes(),
                     np.ascontiguousarray(self._triangles).tobytes())
        return remembered('solids-1', key, self._examined)

    def _examined(self) -> dict[str, Any]:
        triangles, is_closed = turned_outward(self._vertices, self._triangles)
        return {'triangles': triangles, 'closed': np.array(is_closed),
                'samples': _one_of_each(self._vertices, self._triangles)}


def turned_outward(vertices: Array, triangles: Indices) -> tuple[Indices, bool]:
    """
    Turn each closed surface of a mesh outward, but those that hollow out another.

    Returns the triangles (m, 3), and whether all surfaces are closed; if not, nothing is turned.
    """
    labels, closed = surfaces(vertices, triangles)
    if not closed.all():
        return triangles, False
    groups = [np.flatnonzero(labels == label) for label in range(len(closed))]
    volumes = [_volume(vertices[triangles[group]]) for group in groups]
    outward = [group for group, volume in zip(groups, volumes, strict=True) if volume > 0]
    solid = vertices[triangles[np.concatenate([*outward, np.zeros(0, dtype=np.intp)])]]
    turned = triangles.copy()
    for group, volume in zip(groups, volumes, strict=True):
        if volume <= 0:
            inner = vertices[triangles[group[0]]].mean(axis=0)
            if not len(solid) or winding_number(solid, *inner) < 0.5:
                turned[group] = turned[group][:, ::-1]
    return turned, True


def winding_number(corners: Array, x: float, y: float, z: float) -> float:
    """Sum the solid angles of triangles (m, 3, 3) as seen from a point, in full turns."""
    a, b, c = np.moveaxis(corners - np.array((x, y, z)), 1, 0)
    la, lb, lc = (np.sqrt(np.einsum('ij,ij->i', v, v)) for v in (a, b, c))
    dots = [np.einsum('ij,ij->i', v, w) for v, w in ((a, b), (b, c), (c, a))]
    angles = np.arctan2(np.einsum('ij,ij->i', a, np.cross(b, c)),
                        la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return float(angles.sum() / (2 * np.pi))


def _volume(corners: Array) -> float:
    moved = corners - corners[0, 0]
    return float(np.einsum('ij,ij->', moved[:, 0], np.cross(moved[:, 1], moved[:, 2])) / 6)


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
