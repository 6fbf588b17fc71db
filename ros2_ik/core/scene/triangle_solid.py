"""
The solid that a mesh stands for: its triangles, and what is inside of them.

coal knows triangles as a hollow surface. Two solids whose surfaces do not meet are apart or one
is inside the other; which of these is asked of one point of each connected part. Holes are covered
first, see `closed_mesh`.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.cache import digest, remembered
from ros2_ik.core.scene.closing import closed_mesh
from ros2_ik.core.scene.components import components
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.meshes import Hull, hull_of, triangle_tree
from ros2_ik.core.scene.winding import turns_round, winds_round

_DOT = 1e-12     # m, the size of a point
_SLACK = 1e-5   # m, of distances from triangles
_BALLS = 64      # balls in or beside each solid that are remembered
_PROBES = 300    # points at which an open mesh is probed
_WAYS = np.array([way for way in product((-1, 0, 1), repeat=3) if any(way)], dtype=float)


class TriangleSolid:
    """
    A mesh of `vertices` (n, 3) and `triangles` (m, 3), closed where these leave holes.

    `parts` returns convex solids that together contain it, for distances; before `has_parts`
    does, which `make_parts` brings about in seconds or minutes, that is its hull.
    `is_closed` is False where holes had to be covered: what is behind them counts as inside, but
    nobody knows. Nor does anybody where surfaces had to be turned, see `surely_contains`.
    """

    def __init__(self, vertices: Array, triangles: Indices,
                 parts: Callable[[], tuple[Hull, ...]], has_parts: Callable[[], bool],
                 make_parts: Callable[[], None]) -> None:
        self._given = vertices, triangles
        self.parts, self.has_parts, self.make_parts = parts, has_parts, make_parts
        self._part_geometries: tuple[Any, ...] | None = None
        self._balls = np.zeros((0, 5))     # centre, square of the radius, whether it is inside

    def prepare(self) -> None:
        """Make what checks need."""
        self.tree, self.least_part  # noqa: B018

    @cached_property
    def tree(self) -> Any:
        """The triangles as coal has them, those over holes too."""
        tree = triangle_tree(*self.closed)
        tree.computeLocalAABB()
        return tree

    @property
    def triangle_count(self) -> int:
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
        vertices, more = self._given[0], self._closed['more']
        return np.concatenate([vertices, more]) if len(more) else vertices, \
            self._closed['triangles']

    @property
    def extremes(self) -> Array:
        """The farthest vertices along some directions of each connected part, (k, d, 3)."""
        extremes: Array = self._closed['extremes']
        return extremes

    @property
    def points(self) -> Array:
        """All vertices that triangles use, (n, 3)."""
        vertices, triangles = self.closed
        points: Array = vertices[np.unique(triangles)]
        return points

    def may_hold(self, points: Array) -> bool:
        """Return whether one of some points (k, 3) is in the box round it."""
        low, high = self._bounds
        return bool(((points >= low) & (points <= high)).all(axis=1).any())

    def holds(self, parts: Array) -> bool:
        """
        Return whether one of some parts is inside, none of which meets the surface.

        `parts` (k, d, 3) are points of each; where one of them is outside, all of the part is.
        """
        low, high = self._bounds
        if not (within := ((parts >= low) & (parts <= high)).all(axis=(1, 2))).any():
            return False
        normals, offsets = self._sides
        return any((part @ normals <= offsets).all() and self.contains(part[0])
                   for part in parts[within])

    def contains(self, point: Array) -> bool:
        """Return whether a point (3,) off the surface is inside."""
        known = self._balls
        away = known[:, :3] - point
        near = np.flatnonzero(np.einsum('ij,ij->i', away, away) < known[:, 3])
        inside = bool(known[near[0], 4]) if len(near) else self._look(point)
        return inside or not self._is_tight and winds_round(self._corners_given, point)

    def surely_contains(self, point: Array) -> bool:
        """Return whether a point (3,) is inside, as the file has it, nothing closed or turned."""
        return (self.is_closed and not self._closed['was_turned'] and self.contains(point)
                and turns_round(self._corners_given, point) > 0.5)

    def _look(self, point: Array) -> bool:
        """Find whether a point is inside, and remember it for the ball round it that is free."""
        inside = winds_round(self._corners, point)
        if len(self._balls) < _BALLS:
            radius = max(0.999 * self.clearance(point) - _SLACK, 0.0)
            ball = [*point, radius ** 2, inside]
            self._balls = np.vstack([self._balls, [ball]])    # one step, as others may read it
        return inside

    def clearance(self, point: Array) -> float:
        """Distance [m] of a point (3,) from the surface, whatever side it is on."""
        distance = coal.distance(self.tree, _HERE, coal.Capsule(_DOT, _DOT),
                                 Placement(np.eye(3), point), coal.DistanceRequest(),
                                 coal.DistanceResult())
        return max(float(distance), 0.0)

    @cached_property
    def _sides(self) -> tuple[Array, Array]:
        """Outward normals (3, f) of the faces of the hull, and their offsets (f,)."""
        hull = hull_of(self.points)
        a, b, c = (hull.vertices[hull.faces[:, corner]] for corner in range(3))
        normals = np.cross(b - a, c - a)
        return np.ascontiguousarray(normals.T), np.einsum('ij,ij->i', a, normals)

    @cached_property
    def size(self) -> float:
        """Diameter [m] of the box round it."""
        low, high = self._bounds
        return float(np.linalg.norm(high - low))

    @cached_property
    def least_part(self) -> float:
        """Length [m] of the shortest connected part, or a bit less."""
        return min(float(np.linalg.norm(part[:, None] - part, axis=2).max())
                   for part in self.extremes)

    @cached_property
    def _corners(self) -> Array:
        vertices, triangles = self.closed
        return np.ascontiguousarray(vertices[triangles])

    @cached_property
    def _corners_given(self) -> Array:
        vertices, triangles = self._given
        return np.ascontiguousarray(vertices[triangles])

    @property
    def _is_tight(self) -> bool:
        """
        Whether what the closed surface holds is all that is inside.

        Where gaps are everywhere, covers enclose nothing, but the triangles as they are still
        wind round what is inside by about one (Jacobson et al., Robust inside-outside
        segmentation using generalized winding numbers, 2013).
        """
        return bool(self._closed['is_tight'])

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        points = self.points
        return points.min(axis=0), points.max(axis=0)

    @cached_property
    def _closed(self) -> dict[str, Any]:
        key = digest(*(np.ascontiguousarray(array).tobytes() for array in self._given))
        return remembered('solids-5', key, self._examined)

    def _examined(self) -> dict[str, Any]:
        vertices, triangles, was_closed, was_turned = closed_mesh(*self._given)
        return {'more': vertices[len(self._given[0]):], 'triangles': triangles,
                'was_closed': np.array(was_closed), 'was_turned': np.array(was_turned),
                'extremes': _extremes(vertices, triangles),
                'is_tight': np.array(was_closed or self._holds_all(vertices[triangles]))}

    def _holds_all(self, corners: Array) -> bool:
        """Return whether points that the given triangles wind round are in the closed surface."""
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        points = np.random.default_rng(0).uniform(low, high, (_PROBES, 3))
        return not any(winds_round(self._corners_given, point) and not winds_round(corners, point)
                       for point in points)


def _extremes(vertices: Array, triangles: Indices) -> Array:
    """Return the farthest vertices along `_WAYS` of each part that hangs together, (k, d, 3)."""
    points, same = np.unique(vertices, axis=0, return_inverse=True)
    corners = same.reshape(-1)[triangles]
    start, end = corners[:, [0, 1]].reshape(-1), corners[:, [1, 2]].reshape(-1)
    labels = components(start, end, len(points))
    used = np.unique(corners)
    order = used[np.argsort(labels[used], kind='stable')]
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return np.array([points[part][(points[part] @ _WAYS.T).argmax(axis=0)] for part in parts])


_HERE = Placement(np.eye(3), np.zeros(3))
