"""The polygons of one <geometry> of a COLLADA file."""

from typing import NamedTuple, TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.mesh_files.collada_xml import children
from ros2_ik.core.scene.mesh_files.polygons import triangulated

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_KINDS = ('triangles', 'polylist', 'polygons', 'tristrips', 'trifans')
_NO_SURFACE = ('source', 'vertices', 'lines', 'linestrips', 'extra')
_AXES = ('X', 'Y', 'Z')


class Geometry(NamedTuple):
    """
    Vertices (n, 3) and triangles (m, 3) of all polygons in a <geometry>.

    `materials` are the symbols of their materials, '' for none, each with the number of triangles
    that follow.
    """

    vertices: Array
    triangles: Indices
    materials: tuple[tuple[str, int], ...]


def read_geometry(geometry: 'Element') -> Geometry:
    """Read a <geometry>; raises ValueError."""
    meshes = children(geometry, 'mesh')
    if len(meshes) != 1:
        raise ValueError(f"the geometry '{geometry.get('id')}' has {len(meshes)} <mesh>; "
                         'valid: one')
    mesh = meshes[0]
    vertices, triangles = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.intp)]
    positions: dict[str, tuple[Array, int]] = {}
    materials: list[tuple[str, int]] = []
    offset = 0
    for element in mesh:
        if element.tag in _NO_SURFACE:
            continue
        if element.tag not in _KINDS:
            raise ValueError(f'a mesh has <{element.tag}>, which is not read; valid: '
                             f'{", ".join(_KINDS)}')
        if not (element.find('p') is not None or children(element, 'ph')):
            continue     # none of them: a material that nothing has
        source, index_at, stride = _inputs(element, mesh)
        if source not in positions:
            points = _positions(_one(mesh, 'source', source))
            positions[source] = points, offset
            vertices.append(points)
            offset += len(points)
        points, first = positions[source]
        triangles.append(first + _triangles(element, points, index_at, stride))
        materials.append((element.get('material', ''), len(triangles[-1])))
    return Geometry(np.concatenate(vertices), np.concatenate(triangles), tuple(materials))


def _inputs(element: 'Element', mesh: 'Element') -> tuple[str, int, int]:
    """Return the url of the positions, which index is theirs, and how many a corner has."""
    inputs = [(item.get('semantic'), item.get('source', ''), int(item.get('offset', '0')))
              for item in children(element, 'input')]
    for semantic, source, index_at in inputs:
        if semantic == 'VERTEX':
            found = [item.get('source', '')
                     for item in children(_one(mesh, 'vertices', source), 'input')
                     if item.get('semantic') == 'POSITION']
            if len(found) != 1:
                raise ValueError(f"the vertices '{source}' have {len(found)} positions; "
                                 'valid: one')
            return found[0], index_at, max(offset for _, _, offset in inputs) + 1
    raise ValueError(f'<{element.tag}> has no input of semantic VERTEX')


def _one(mesh: 'Element', tag: str, url: str) -> 'Element':
    found = [element for element in children(mesh, tag) if f'#{element.get("id")}' == url]
    if len(found) != 1:
        raise ValueError(f"a mesh has {len(found)} <{tag}> that '{url}' names; valid: one")
    return found[0]


def _positions(source: 'Element') -> Array:
    """Return the points (n, 3) of a <source>."""
    arrays = children(source, 'float_array')
    accessor = source.find('technique_common/accessor')
    if len(arrays) != 1 or accessor is None \
            or accessor.get('source') != f'#{arrays[0].get("id")}':
        raise ValueError(f"the source '{source.get('id')}' has no accessor to its one float_array")
    numbers = np.array((arrays[0].text or '').split(), dtype=float)
    count, offset, stride = (int(accessor.get(name, default)) for name, default
                             in (('count', ''), ('offset', '0'), ('stride', '1')))
    names = [param.get('name', '') for param in children(accessor, 'param')]
    axes = [names.index(axis) for axis in _AXES] if set(_AXES) <= set(names) else [0, 1, 2]
    if (names and any(names) and not set(_AXES) <= set(names)) or min(count, offset) < 0 \
            or stride <= max(axes) or offset + count * stride > len(numbers):
        raise ValueError(f"the accessor of source '{source.get('id')}' does not fit its "
                         f'{len(numbers)} numbers')
    return numbers[offset:offset + count * stride].reshape(-1, stride)[:, axes]


def _triangles(element: 'Element', points: Array, index_at: int, stride: int) -> Indices:
    if children(element, 'ph'):
        raise ValueError('a polygon has holes, which are not read')
    if index_at < 0:
        raise ValueError('an input has a negative offset')
    rows = [_indices(p, stride)[:, index_at] for p in children(element, 'p')]
    corners = np.concatenate(rows)
    if element.tag in ('tristrips', 'trifans'):
        corners = np.concatenate([_strip(row, element.tag == 'trifans') for row in rows])
    counts = np.full(len(corners) // 3, 3)
    if element.tag == 'polygons':
        counts = np.array([len(row) for row in rows])
    if element.tag == 'polylist':
        vcount = element.find('vcount')
        counts = np.array(((vcount.text if vcount is not None else '') or '').split(),
                          dtype=np.intp)
    return triangulated(points, counts, corners)


def _indices(p: 'Element', stride: int) -> Indices:
    found = np.array((p.text or '').split(), dtype=np.intp)
    if len(found) % stride:
        raise ValueError(f'a <p> has {len(found)} indices, not a multiple of {stride}')
    return found.reshape(-1, stride)


def _strip(row: Indices, fan: bool) -> Indices:
    """Return the corners of the triangles, one after the other, of a strip or a fan."""
    if len(row) < 3:
        return row[:0]
    if fan:
        triangles = np.stack([np.broadcast_to(row[0], len(row) - 2), row[1:-1], row[2:]], axis=1)
    else:
        triangles = np.stack([row[:-2], row[1:-1], row[2:]], axis=1)
        triangles[1::2] = triangles[1::2, [1, 0, 2]]
    return triangles.reshape(-1)
