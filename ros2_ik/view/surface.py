"""Triangles to be drawn, with sharp edges and round ones."""

from typing import NamedTuple

import numpy as np
import trimesh

from ros2_ik.core import Array, Shape
from ros2_ik.core.internals import Indices

CREASE = 0.7     # angle between faces above which their edge is drawn as an edge [rad]
Color = tuple[float, ...]    # red, green, blue in [0, 1]


class Surface(NamedTuple):
    """
    Triangles of one colour: `vertices` (n, 3) [m], `faces` (m, 3).

    Each side of a sharp edge has vertices of its own, for its own shading.
    """

    vertices: Array
    faces: Indices
    color: Color
    opacity: float = 1.0


def shape_surface(shape: Shape, color: Color, opacity: float = 1.0) -> Surface:
    """Return the surface of a shape, in its own frame; of an infinite one, a part."""
    mesh = trimesh.graph.smooth_shade(trimesh.Trimesh(*shape.surface(), process=False),
                                      angle=CREASE, facet_minarea=None)
    return Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), color, opacity)
