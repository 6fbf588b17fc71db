"""
COLLADA (dae) files: the polygons of all geometry in the scene, where its nodes place it.

<up_axis> is left as it is, as RViz, MoveIt and Pinocchio do, and so is <unit>, as MoveIt (which
clears the transformation that assimp puts it into, geometric_shapes #52), Pinocchio, coal and
trimesh do. RViz (getMeshUnitRescale) and Gazebo scale by it: so does who draws the mesh, and who
uses it for collisions is to be told.
Reference: https://www.khronos.org/files/collada_spec_1_4.pdf
"""

from collections.abc import Iterator
import math
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.mesh_files.collada_geometry import Geometry, read_geometry
from ros2_ik.core.scene.mesh_files.collada_materials import bound_materials, diffuse_color
from ros2_ik.core.scene.mesh_files.collada_xml import children, ColladaIds, parse_collada

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MOST_NODES = 100_000
_MOST_TRIANGLES = 20_000_000
_DEEPEST = 200         # nodes in nodes
_WITH_SURFACE = ('instance_geometry', 'instance_node', 'instance_controller')
_UNREAD = ('lookat', 'skew', 'instance_controller')


def read_collada(content: bytes) -> tuple[Array, Indices]:
    """Return the vertices and triangles of the scene; raises ValueError."""
    vertices, triangles, _ = read_colored_collada(content)
    return vertices, triangles


def read_colored_collada(content: bytes) -> tuple[Array, Indices, Array]:
    """
    Return the vertices and triangles of the scene, and the colour of each triangle, (m, 3).

    Colours are red, green, blue in [0, 1], those of diffuse light; NaN where a file names none,
    or has a picture. Raises ValueError.
    """
    root = parse_collada(content)
    ids = ColladaIds(root)
    known: dict[str, Geometry] = {}
    vertices, triangles = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.intp)]
    colors = [np.zeros((0, 3))]
    offset = count = 0
    for instance, placement in _instances(_scene(root, ids), ids):
        url = instance.get('url', '')
        if url not in known:
            known[url] = read_geometry(ids.find('geometry', url))
        points, faces, materials = known[url]
        count += len(faces)
        if count > _MOST_TRIANGLES:
            raise ValueError(f'it has more than {_MOST_TRIANGLES} triangles')
        vertices.append(points @ placement[:3, :3].T + placement[:3, 3])
        mirrored = np.linalg.det(placement[:3, :3]) < 0
        triangles.append(offset + (faces[:, ::-1] if mirrored else faces))
        targets = bound_materials(instance)
        colors += [np.tile(diffuse_color(targets.get(symbol, ''), ids), (many, 1))
                   for symbol, many in materials]
        offset += len(points)
    return np.concatenate(vertices), np.concatenate(triangles), np.concatenate(colors)


def collada_unit(content: bytes) -> float:
    """Return the unit [m] that a file names, 1 if it names none; raises ValueError."""
    units = [unit for asset in children(parse_collada(content), 'asset')
             for unit in children(asset, 'unit')]
    text = units[0].get('meter', '1') if units else '1'
    try:
        unit = float(text)
    except ValueError:
        unit = math.nan
    if not 0 < unit < math.inf:
        raise ValueError(f"its unit is '{text}' m; valid: a positive number")
    return unit


def _scene(root: 'Element', ids: ColladaIds) -> 'Element':
    instances = [instance for scene in children(root, 'scene')
                 for instance in children(scene, 'instance_visual_scene')]
    if len(instances) != 1:
        raise ValueError(f'it has {len(instances)} visual scenes; valid: one')
    return ids.find('visual_scene', instances[0].get('url', ''))


def _instances(scene: 'Element', ids: ColladaIds) -> Iterator[tuple['Element', Array]]:
    """Yield each <instance_geometry> in a scene's nodes with its placement (4, 4)."""
    waiting = [(node, np.eye(4), 1) for node in children(scene, 'node')]
    seen = 0
    while waiting:
        node, parent, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST or seen > _MOST_NODES:
            raise ValueError(f'it has nodes {_DEEPEST} deep in each other, or more than '
                             f'{_MOST_NODES}')
        if not any(element.tag in _WITH_SURFACE for element in node.iter()):
            continue    # cameras and lights, where some files have odd rotations
        placement = parent @ _placement(node)
        for child in node:
            if child.tag == 'instance_geometry':
                yield child, placement
            elif child.tag == 'node':
                waiting.append((child, placement, depth + 1))
            elif child.tag == 'instance_node':
                waiting.append((ids.find('node', child.get('url', '')), placement, depth + 1))


def _placement(node: 'Element') -> Array:
    """Return the product (4, 4) of a node's transformations, in their order."""
    found = np.eye(4)
    for element in node:
        if element.tag in _UNREAD:
            raise ValueError(f'a node has <{element.tag}>, which is not read')
        found = found @ _transformation(element)
    if not (np.isfinite(found).all() and (found[3] == [0, 0, 0, 1]).all()):
        raise ValueError('a node has a matrix that places nothing')
    return found


def _transformation(element: 'Element') -> Array:
    found = np.eye(4)
    if element.tag == 'matrix':
        found = _numbers(element, 16).reshape(4, 4)
    elif element.tag == 'translate':
        found[:3, 3] = _numbers(element, 3)
    elif element.tag == 'scale':
        found[range(3), range(3)] = _numbers(element, 3)
    elif element.tag == 'rotate':
        x, y, z, degrees = _numbers(element, 4).tolist()
        found[:3, :3] = _rotation(np.array([x, y, z]), math.radians(degrees))
    return found


def _rotation(axis: Array, angle: float) -> Array:
    length = float(np.linalg.norm(axis))
    if angle == 0:
        return np.eye(3)
    if abs(length - 1) > 1e-3:     # some readers scale by it
        raise ValueError(f'a node is rotated about an axis of length {length:g}; valid: 1')
    x, y, z = axis / length
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross
                      + (1 - math.cos(angle)) * cross @ cross)


def _numbers(element: 'Element', count: int) -> Array:
    found = np.array((element.text or '').split(), dtype=float)
    if len(found) != count:
        raise ValueError(f'a <{element.tag}> has {len(found)} numbers; valid: {count}')
    return found
