"""Triangles to be drawn, with sharp edges and round ones."""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ros2_ik.core import Array, Indices, Shape

CREASE = 0.7     # edges that are sharper are drawn as edges [rad]
Color = tuple[float, ...]    # red, green, blue in [0, 1]


class Surface(NamedTuple):
    """
    Triangles of one colour: `vertices` (n, 3) [m] in some frame, `faces` (m, 3).

    Vertices are there once for each side of a sharp edge, so that light falls on it as it should.
    """

    vertices: Array
    faces: Indices
    color: Color
    opacity: float = 1.0


def shape_surface(shape: Shape, color: Color, opacity: float = 1.0) -> Surface:
    """Return the surface of a shape, in its own frame; of what has no end, a part."""
    return Surface(*creased(*shape.surface()), color, opacity)


def creased(vertices: Array, faces: Indices) -> tuple[Array, Indices]:
    """
    Return the same surface with vertices of their own on both sides of sharp edges.

    trimesh.graph.smooth_shade does this in ten times the time.
    """
    count = len(faces)
    a, b, c = np.swapaxes(vertices[faces], 0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-300
    starts, ends = faces, np.roll(faces, -1, axis=1)    # of each edge, (m, 3)
    corners = np.arange(3 * count).reshape(count, 3)
    swapped = starts > ends
    low, high = (np.where(swapped, *pair).reshape(-1) for pair in ((ends, starts), (starts, ends)))
    at_low, at_high = (np.where(swapped, *pair).reshape(-1) for pair in (
        (np.roll(corners, -1, axis=1), corners), (corners, np.roll(corners, -1, axis=1))))
    order = np.lexsort((high, low))    # edges that are the same are neighbours in this order
    one, other = order[:-1], order[1:]
    same = (low[one] == low[other]) & (high[one] == high[other])
    one, other = one[same], other[same]
    smooth = (normals[one // 3] * normals[other // 3]).sum(axis=1) > math.cos(CREASE)
    one, other = one[smooth], other[smooth]
    joined = coo_matrix((np.ones(2 * len(one), dtype=bool), (
        np.concatenate([at_low[one], at_high[one]]),
        np.concatenate([at_low[other], at_high[other]]))), shape=(3 * count, 3 * count))
    number, corner_of = connected_components(joined, directed=False)
    points = np.empty((number, 3))
    points[corner_of] = vertices[faces.reshape(-1)]
    return points, corner_of.reshape(count, 3).astype(np.intp)
