"""STL files, binary and text."""

import re

import numpy as np

from ros2_ik.core.arrays import Array, Indices

_HEADER = 84      # bytes, the last four of them the number of triangles
_FACET = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attributes', '<u2')])
_CORNER = rb'\s+vertex\s+(\S+)\s+(\S+)\s+(\S+)'
_TEXT_FACET = re.compile(rb'facet\s+normal\s+\S+\s+\S+\s+\S+\s+outer\s+loop' + 3 * _CORNER
                         + rb'\s+endloop\s+endfacet\b', re.IGNORECASE)
_END = re.compile(rb'\bendfacet\b', re.IGNORECASE)


def read_stl(content: bytes) -> tuple[Array, Indices]:
    """Return the vertices, three for each triangle, and the triangles; raises ValueError."""
    corners = _binary(content)
    if corners is None:
        corners = _text(content)
    return corners, np.arange(len(corners), dtype=np.intp).reshape(-1, 3)


def _binary(content: bytes) -> Array | None:
    """Return the corners if the size is as the number of triangles in it says."""
    if len(content) < _HEADER:
        return None
    count = int.from_bytes(content[_HEADER - 4:_HEADER], 'little')
    if len(content) != _HEADER + count * _FACET.itemsize:
        return None
    facets = np.frombuffer(content, _FACET, count, _HEADER)
    return facets['corners'].reshape(-1, 3).astype(float)


def _text(content: bytes) -> Array:
    if content.lstrip()[:5].lower() != b'solid':
        raise ValueError('it is no stl: neither text that begins with "solid" nor as long as the '
                         'number of triangles in it says')
    facets = _TEXT_FACET.findall(content)
    if len(facets) != len(_END.findall(content)):
        raise ValueError(f'of its {len(_END.findall(content))} facets {len(facets)} are '
                         'triangles with a normal')
    return np.array(facets, dtype=bytes).astype(float).reshape(-1, 3)
