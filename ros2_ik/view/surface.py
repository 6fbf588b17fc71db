"""Surfaces to be drawn: triangles with smooth shading, except at sharp edges."""

from typing import NamedTuple

import numpy as np
import trimesh

from ros2_ik.core import Array, Shape
from ros2_ik.core.internals import Indices

CREASE = 0.7     # angle between faces above which their common edge is shaded as sharp [rad]
Color = tuple[float, ...]    # red, green, blue in [0, 1]


class Surface(NamedTuple):
    """
    Triangles of one colour: `vertices` (n, 3) [m], `faces` (m, 3).

    At a sharp edge the vertices exist twice, once for each side, so that normals differ.
    """

    vertices: Array
    faces: Indices
    color: Color
    opacity: float = 1.0


def shape_surface(shape: Shape, color: Color, opacity: float = 1.0) -> Surface:
    """Return the surface of a shape in the shape's frame; unbounded shapes are cut."""
    mesh = trimesh.graph.smooth_shade(trimesh.Trimesh(*shape.surface(), process=False),
                                      angle=CREASE, facet_minarea=None)
    return Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), color, opacity)
