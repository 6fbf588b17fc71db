"""Wavefront OBJ files: the polygons in them; materials and normals do not matter."""

import re

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.mesh_files.polygons import triangulated

_CONTINUED = re.compile(rb'\\[ \t]*\r?\n')
_FACES = (b'f', b'fo')
_SURFACES = (b'surf', b'call', b'csh')     # free forms, and what is in other files


def read_obj(content: bytes) -> tuple[Array, Indices]:
    """Return the vertices and triangles; raises ValueError."""
    vertices: list[list[float]] = []
    counts: list[int] = []
    corners: list[int] = []
    for line in _CONTINUED.sub(b' ', content).splitlines():
        words = line.partition(b'#')[0].split()
        if not words:
            continue
        if words[0] == b'v':
            vertices.append(_vertex(words[1:]))
        elif words[0] in _FACES:
            counts.append(len(words) - 1)
            corners += [_corner(word, len(vertices)) for word in words[1:]]
        elif words[0] in _SURFACES:
            raise ValueError(f"it has '{words[0].decode()}', which is not read; valid: polygons")
    points = np.array(vertices, dtype=float).reshape(-1, 3)
    return points, triangulated(points, np.array(counts, dtype=np.intp),
                                np.array(corners, dtype=np.intp))


def _vertex(words: list[bytes]) -> list[float]:
    """Return x, y, z of a vertex that may have a weight, a color or both."""
    if not 3 <= len(words) <= 8:
        raise ValueError(f'a vertex has {len(words)} numbers')
    x, y, z = float(words[0]), float(words[1]), float(words[2])
    if len(words) in (4, 7):
        weight = float(words[3])
        if weight == 0:
            raise ValueError('a vertex has weight 0')
        return [x / weight, y / weight, z / weight]
    return [x, y, z]


def _corner(word: bytes, before: int) -> int:
    """Return the index of a vertex; negative ones count back from the last one so far."""
    number = int(word.partition(b'/')[0])
    if number == 0 or number < -before:
        raise ValueError(f'a face has vertex {number}, after {before} vertices')
    return number - 1 if number > 0 else before + number
