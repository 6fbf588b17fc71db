"""Triangles to be drawn, of every kind of shape."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import trimesh

from ros2_ik.core import (
    Array,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
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
    smooth = trimesh.graph.smooth_shade(mesh, angle=CREASE)
    return Surface(np.asarray(smooth.vertices), np.asarray(smooth.faces, dtype=np.intp), color,
                   opacity)


def _mesh(shape: Shape) -> Any:
    if isinstance(shape, Mesh):
        return trimesh.Trimesh(shape.vertices, shape.triangles, process=False)
    make = _MAKERS.get(type(shape))
    if make is not None:
        return make(shape)
    hulls = getattr(shape, 'hulls', None)
    if hulls is None:
        raise TypeError(f'a {shape.kind} has no triangles')
    return trimesh.util.concatenate([
        trimesh.Trimesh(hull.vertices, hull.faces, process=False) for hull in hulls])


def _cone(shape: Cone) -> Any:
    mesh = trimesh.creation.cone(shape.radius, shape.length, sections=TURNS)
    mesh.apply_translation([0, 0, -shape.length / 2])
    return mesh


def _ellipsoid(shape: Ellipsoid) -> Any:
    mesh = trimesh.creation.icosphere(3)
    mesh.apply_scale(shape.radii)
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
    points = shape.points
    vertices = (points[:, None] + cube.vertices).reshape(-1, 3)
    faces = (8 * np.arange(len(points))[:, None, None] + cube.faces).reshape(-1, 3)
    return trimesh.Trimesh(vertices, faces, process=False)


_MAKERS: dict[type[Shape], Callable[[Any], Any]] = {
    Box: lambda shape: trimesh.creation.box(shape.size),
    Sphere: lambda shape: trimesh.creation.icosphere(3, shape.radius),
    Cylinder: lambda shape: trimesh.creation.cylinder(shape.radius, shape.length, sections=TURNS),
    Capsule: lambda shape: trimesh.creation.capsule(shape.length, shape.radius,
                                                    count=[TURNS, TURNS // 2]),
    Cone: _cone, Ellipsoid: _ellipsoid, Plane: _sheet, HalfSpace: _sheet, OcTree: _cubes}
