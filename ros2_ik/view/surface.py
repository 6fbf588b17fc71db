"""Triangles to be drawn, with sharp edges and round ones."""

from typing import NamedTuple

import numpy as np
import trimesh

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
    """Return the same surface with vertices of their own on both sides of sharp edges."""
    mesh = trimesh.graph.smooth_shade(trimesh.Trimesh(vertices, faces, process=False),
                                      angle=CREASE, facet_minarea=None)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)
