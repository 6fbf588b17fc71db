"""Shapes as triangles, for messages and markers that know fewer kinds."""

import math

import numpy as np

from ros2_ik.core import Array, Capsule, Cone, ConvexHull, Ellipsoid, Indices, Mesh, Shape

TURNS, RINGS = 32, 8   # points round a curved shape, and from its pole to its equator


def triangles(shape: Shape) -> tuple[Array, Indices]:
    """
    Return vertices (n, 3) and triangles (m, 3), of a round shape inside it by at most 2 %.

    Of a mesh for whose many triangles its hull stands, these are the hull's. Raises TypeError
    for a shape without a surface that ends.
    """
    if isinstance(shape, Mesh) and not shape.warnings:
        return shape.vertices, shape.triangles
    if isinstance(shape, Cone):
        return _hull(_circle(shape.radius, -shape.length / 2),
                     np.array([[0.0, 0.0, shape.length / 2]]))
    if isinstance(shape, Capsule):
        ball, end = _ball() * shape.radius, np.array([0.0, 0.0, shape.length / 2])
        return _hull(ball[ball[:, 2] >= 0] + end, ball[ball[:, 2] <= 0] - end)
    if isinstance(shape, Ellipsoid):
        return _hull(_ball() * shape.radii)
    hulls = getattr(shape, 'hulls', None)
    if hulls is None:
        raise TypeError(f'a {shape.kind} has no triangles')
    firsts = np.cumsum([0, *(len(hull.vertices) for hull in hulls)])
    return (np.vstack([hull.vertices for hull in hulls]),
            np.vstack([hull.faces + first for hull, first in zip(hulls, firsts, strict=False)]))


def _hull(*points: Array) -> tuple[Array, Indices]:
    return triangles(ConvexHull(np.vstack(points)))


def _circle(radius: float, z: float) -> Array:
    angles = np.arange(TURNS) * (2 * math.pi / TURNS)
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles),
                            np.full(TURNS, z)])


def _ball() -> Array:
    """Points on the unit ball, with a ring on the equator."""
    heights = np.sin(np.arange(1 - RINGS, RINGS) * (math.pi / 2 / RINGS))
    rings = [_circle(math.sqrt(1 - z * z), z) for z in heights.tolist()]
    return np.vstack([*rings, [[0, 0, 1]], [[0, 0, -1]]])
