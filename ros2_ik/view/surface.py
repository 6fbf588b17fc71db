"""Triangles to be drawn, of every kind of shape."""

from collections.abc import Callable
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
import trimesh

from ros2_ik.core import (
    Array,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    Indices,
    Mesh,
    OcTree,
    Plane,
    Shape,
    Sphere,
)

SHEET = 4.0      # edge of the part of a plane that is drawn [m]
CREASE = 0.7     # edges that are sharper are drawn as edges [rad]
TURNS = 48       # sides of what is round
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
    """
    Return the surface of a shape, in its own frame; of what has no end, a part.

    Raises TypeError for a shape that no triangles are known of.
    """
    mesh = _mesh(shape)
    return Surface(*creased(np.asarray(mesh.vertices), np.asarray(mesh.faces, dtype=np.intp)),
                   color, opacity)


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


def _mesh(shape: Shape) -> Any:
    if isinstance(shape, Mesh):
        return trimesh.Trimesh(shape.vertices, shape.triangles, process=False)
    if isinstance(shape, ConvexHull):
        return trimesh.Trimesh(shape.hull.vertices, shape.hull.faces, process=False)
    make = _MAKERS.get(type(shape))
    if make is None:
        raise TypeError(f'a {shape.kind} has no triangles')
    return make(shape)


def _cone(shape: Cone) -> Any:
    mesh = trimesh.creation.cone(shape.radius, shape.length, sections=TURNS)
    mesh.apply_translation([0, 0, -shape.length / 2])
    return mesh


def _sheet(shape: Any) -> Any:
    """Return a part of a plane, round the point of it that is nearest its origin."""
    mesh = trimesh.creation.box((SHEET, SHEET, 1e-3))
    normal = np.array(shape.normal)
    other = np.eye(3)[int(np.abs(normal).argmin())]
    T = np.eye(4)
    T[:3, 0] = np.cross(other, normal)
    T[:3, 0] /= np.linalg.norm(T[:3, 0])
    T[:3, 1], T[:3, 2], T[:3, 3] = np.cross(normal, T[:3, 0]), normal, normal * shape.offset
    mesh.apply_transform(T)
    return mesh


def _cubes(shape: OcTree) -> Any:
    cube = trimesh.creation.box([shape.resolution] * 3)
    vertices = (shape.cells[:, None] + cube.vertices).reshape(-1, 3)
    faces = (8 * np.arange(len(shape.cells))[:, None, None] + cube.faces).reshape(-1, 3)
    return trimesh.Trimesh(vertices, faces, process=False)


_MAKERS: dict[type[Shape], Callable[[Any], Any]] = {
    Box: lambda shape: trimesh.creation.box(shape.size),
    Sphere: lambda shape: trimesh.creation.icosphere(3, shape.radius),
    Cylinder: lambda shape: trimesh.creation.cylinder(shape.radius, shape.length, sections=TURNS),
    Capsule: lambda shape: trimesh.creation.capsule(shape.length, shape.radius,
                                                    count=[TURNS, TURNS // 2]),
    Cone: _cone, Plane: _sheet, HalfSpace: _sheet, OcTree: _cubes}
