"""
The triangles in mesh files of each kind.

Read here and not by assimp through coal: that loses the offset of the vertices in all parts of a
file but the first (several materials in an obj, several <triangles> or nested nodes in a dae).
"""

from collections.abc import Callable

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.mesh_files.collada import (
    collada_unit,
    read_collada,
    read_colored_collada,
)
from ros2_ik.core.scene.mesh_files.obj import read_obj
from ros2_ik.core.scene.mesh_files.stl import read_stl

_READERS: dict[str, Callable[[bytes], tuple[Array, Indices]]] = {
    '.stl': read_stl, '.obj': read_obj, '.dae': read_collada}
FILE_KINDS = tuple(_READERS)


def parse_mesh(kind: str, content: bytes) -> tuple[Array, Indices]:
    """
    Return the vertices (n, 3) and triangles (m, 3) in the content of a file, in its units.

    `kind` is one of FILE_KINDS. Equal vertices are joined, unused ones and triangles with two
    equal corners left out. Raises ValueError that says what is wrong.
    """
    try:
        vertices, triangles = _READERS[kind](content)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    return _checked(vertices, triangles)


def parse_colored_mesh(kind: str, content: bytes) -> list[tuple[Array, Indices, Array | None]]:
    """
    Return the parts of a mesh of one colour each: vertices, triangles, and the colour, (3,).

    Colours are red, green, blue in [0, 1], None where there is none: dae files alone have some.
    For the rest see `parse_mesh`.
    """
    if kind != '.dae':
        return [(*parse_mesh(kind, content), None)]
    vertices, triangles, colors = read_colored_collada(content)
    found, of = np.unique(np.nan_to_num(colors, nan=-1.0), axis=0, return_inverse=True)
    _checked(vertices, triangles)
    parts = ((color, _joined(vertices, triangles[of.reshape(-1) == number]))
             for number, color in enumerate(found))
    return [(points, faces, color if color.min() >= 0 else None)
            for color, (points, faces) in parts if len(faces)]


def _checked(vertices: Array, triangles: Indices) -> tuple[Array, Indices]:
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ValueError(f'a triangle has vertex {triangles.max()}, of {len(vertices)}')
    vertices, triangles = _joined(vertices, triangles)
    if not len(triangles):
        raise ValueError('it has no triangles')
    if not np.isfinite(vertices).all():
        raise ValueError('it has vertices that are not finite')
    return vertices, triangles


def unit_of(kind: str, content: bytes) -> float:
    """Return the unit [m] that the content of a file names, 1 if none; raises ValueError."""
    return collada_unit(content) if kind == '.dae' else 1.0


def _joined(vertices: Array, triangles: Indices) -> tuple[Array, Indices]:
    """Join equal vertices, and leave out what has no surface."""
    used = np.unique(triangles)
    points = vertices[used] + 0.0   # no -0
    order = np.lexsort(points.T)
    first = np.concatenate([[True], (np.diff(points[order], axis=0) != 0).any(axis=1)]) \
        if len(order) else np.zeros(0, dtype=bool)
    number = np.zeros(len(vertices), dtype=np.intp)
    number[used[order]] = np.cumsum(first) - 1
    triangles = number[triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    kept = np.unique(triangles)
    points = points[order][first]
    number = np.zeros(len(points), dtype=np.intp)
    number[kept] = np.arange(len(kept))
    return points[kept], number[triangles]
