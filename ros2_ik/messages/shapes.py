"""Conversion of SolidPrimitive, Mesh, Plane and Octomap messages to shapes and back."""

from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
import struct
from typing import Any

from geometry_msgs.msg import Point
from moveit_msgs.msg import BoundingVolume, CollisionObject
import numpy as np
from octomap_msgs.msg import Octomap
import pinocchio as pin
from shape_msgs.msg import Mesh as MeshMessage, MeshTriangle, Plane as PlaneMessage, SolidPrimitive

from ros2_ik.core import Array, Box, Cone, Cylinder, HalfSpace, Mesh, OcTree, Plane, Shape, Sphere
from ros2_ik.core.errors import counted
from ros2_ik.core.internals import Indices, ShapeInstance
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import error_context, invalid

# by type of primitive: name, number of dimensions, constructor from the dimensions
_PRIMITIVES: dict[int, tuple[str, int, Callable[[Any], Shape]]] = {
    SolidPrimitive.BOX: ('BOX', 3, lambda size: Box(size)),
    SolidPrimitive.SPHERE: ('SPHERE', 1, lambda size: Sphere(size[0])),
    SolidPrimitive.CYLINDER: ('CYLINDER', 2, lambda size: Cylinder(size[1], size[0])),
    SolidPrimitive.CONE: ('CONE', 2, lambda size: Cone(size[1], size[0])),
}
PosedShapes = list[tuple[Shape, pin.SE3]]   # shapes and their poses
_XYZ = attrgetter('x', 'y', 'z')


def read_shapes(message: CollisionObject | BoundingVolume, detail: str) -> PosedShapes:
    """
    Read the shapes of a CollisionObject or BoundingVolume, with their poses.

    A shape without a pose in the message gets the pose None. `detail` is the `Mesh.detail` of
    meshes. Raises RequestError.
    """
    posed_shapes: PosedShapes = []
    for kind, reader in (('primitive', _primitive), ('mesh', _mesh), ('plane', _plane)):
        field = 'meshes' if kind == 'mesh' else f'{kind}s'
        shapes, poses = getattr(message, field, ()), getattr(message, f'{kind}_poses', ())
        if len(poses) > len(shapes):
            raise invalid(f'{len(poses)} {kind}_poses for {len(shapes)} {field}')
        for index, shape in enumerate(shapes):
            with error_context(f'{field}[{index}]'):
                converted = reader(shape, detail)
            posed_shapes.append((converted, read_pose(poses[index], f'{kind}_poses[{index}]')
                                 if index < len(poses) else None))
    return posed_shapes


def shape_poses(message: CollisionObject) -> list[pin.SE3]:
    """Read the poses of a message's shapes, in the order primitives, meshes, planes."""
    return [read_pose(pose, f'{kind}_poses[{index}]') for kind in ('primitive', 'mesh', 'plane')
            for index, pose in enumerate(getattr(message, f'{kind}_poses'))]


def _primitive(message: SolidPrimitive, *_: object) -> Shape:
    # PRISM is not supported, as in MoveIt
    if message.type not in _PRIMITIVES:
        valid = ', '.join(f'{name} {number}' for number, (name, *_) in _PRIMITIVES.items())
        raise invalid(f'type is {message.type}; valid: {valid}, or a mesh')
    name, count, make = _PRIMITIVES[message.type]
    if len(message.dimensions) < count:
        raise invalid(f'a {name} needs {counted(count, "dimension")}, not '
                      f'{len(message.dimensions)}')
    return make([float(number) for number in message.dimensions[:count]])


def _mesh(message: MeshMessage, detail: str) -> Shape:
    count = len(message.triangles)
    if not len(message.vertices) or not count:
        raise invalid(f'a mesh of {len(message.vertices)} vertices and {count} triangles is empty')
    points = chain.from_iterable(map(_XYZ, message.vertices))
    vertices = np.fromiter(points, dtype=float, count=3 * len(message.vertices)).reshape(-1, 3)
    triangles = np.array([triangle.vertex_indices for triangle in message.triangles])
    return Mesh(vertices, triangles, detail)


def _plane(message: PlaneMessage, *_: object) -> Shape:
    # message: a x + b y + c z + d = 0; shape: dot(normal, x) = offset; hence offset = -d
    coef: Any = [float(number) for number in message.coef]
    return Plane(coef[:3], -coef[3])


# -- octomaps --------------------------------------------------------------------------------

DEPTH = 16                      # levels of octomap's trees
MAX_CELLS = 2_000_000           # maximum number of occupied cells
OCCUPIED, INNER = 2, 3          # states of a child node in the binary format
Cell = tuple[int, int, int]     # a node's corner with the lowest coordinates [cells]


def read_octomap(message: Octomap) -> OcTree | None:
    """
    Return the occupied cells of an Octomap message as a shape, or None if there are none.

    Raises RequestError for data that is not a tree of type OcTree.
    """
    # a leaf above the lowest level represents edge^3 cells
    data, blocks, count = np.asarray(message.data, dtype=np.int8).tobytes(), [], 0
    for low, edge in _leaves(data, bool(message.binary)):
        count += edge ** 3
        if count > MAX_CELLS:
            raise invalid(f'the octomap has more than {MAX_CELLS} occupied cells')
        blocks.append(np.indices([edge] * 3).reshape(3, -1).T + low + 0.5)
    if not blocks:
        return None
    return OcTree(np.concatenate(blocks) * message.resolution, message.resolution)


def _leaves(data: bytes, binary: bool) -> Iterator[tuple[Cell, int]]:
    """
    Yield the occupied leaves as (lowest corner, edge length), in cells.

    Binary format: two bytes per node, two bits per child (0 unknown, 1 free, 2 occupied, 3 has
    children). Full format: per node a float32 (log odds) and a byte whose bits mark its children.

    Source: octomap's OcTreeBaseImpl and OccupancyOcTreeBase.
    """
    half = 1 << (DEPTH - 1)
    # `stack` has the nodes still to be read; the last one is next, and starts at byte `at`
    stack, at, size = [((-half, -half, -half), 2 * half)], 0, 2 if binary else 5
    while stack:
        (x, y, z), edge = stack.pop()
        if at + size > len(data):
            break
        if binary:
            bits = data[at] | data[at + 1] << 8
            states = [bits >> (2 * i) & 3 for i in range(8)]
        else:
            value, mask = struct.unpack_from('<fB', data, at)
            states = [INNER * (mask >> i & 1) for i in range(8)]
            # log odds >= 0: the leaf is occupied with a probability of at least 0.5
            if not mask and value >= 0:
                yield (x, y, z), edge
        # a child below the lowest level: not a valid tree
        if edge == 1 and any(states):
            break
        at, half = at + size, edge // 2
        # child i is in the upper half along x, y or z if bit 0, 1 or 2 of i is set
        children = [((x + half * (i & 1), y + half * (i >> 1 & 1), z + half * (i >> 2 & 1)), half)
                    for i in range(8)]
        yield from (children[i] for i in range(8) if states[i] == OCCUPIED)
        stack += [children[i] for i in reversed(range(8)) if states[i] == INNER]
    else:
        if at == len(data):
            return
    raise invalid(f'the octomap is not a tree of type OcTree: invalid at byte {at}')


# -- writing -----------------------------------------------------------------------------------

def write_part(part: ShapeInstance) \
        -> list[tuple[str, SolidPrimitive | MeshMessage | PlaneMessage, pin.SE3]]:
    """
    Convert a shape with a pose to shapes of a CollisionObject.

    Returns the kind ('primitive', 'mesh' or 'plane'), the message and the pose (pinocchio.SE3) of
    each shape. A HalfSpace becomes a plane, an OcTree one box per cell, and shapes without a
    message type become meshes.
    """
    shape, pose = part.shape, part.pose
    if isinstance(shape, Box):
        return [('primitive', _solid(SolidPrimitive.BOX, shape.size.tolist()), pose)]
    if isinstance(shape, Sphere):
        return [('primitive', _solid(SolidPrimitive.SPHERE, [shape.radius]), pose)]
    if isinstance(shape, (Cylinder, Cone)):
        kind = SolidPrimitive.CONE if isinstance(shape, Cone) else SolidPrimitive.CYLINDER
        return [('primitive', _solid(kind, [shape.length, shape.radius]), pose)]
    if isinstance(shape, (Plane, HalfSpace)):
        a, b, c = shape.normal.tolist()
        return [('plane', PlaneMessage(coef=[a, b, c, -shape.offset]), pose)]
    if isinstance(shape, OcTree):
        return [('primitive', _solid(SolidPrimitive.BOX, [shape.resolution] * 3),
                 pose * pin.SE3(np.eye(3), cell)) for cell in shape.cells]
    return [('mesh', _triangles(*shape.surface()), pose)]


def _solid(kind: int, dimensions: list[float]) -> SolidPrimitive:
    return SolidPrimitive(type=kind, dimensions=array('d', dimensions))


def _triangles(vertices: Array, faces: Indices) -> MeshMessage:
    return MeshMessage(
        vertices=[Point(x=x, y=y, z=z) for x, y, z in vertices.tolist()],
        triangles=[MeshTriangle(vertex_indices=face) for face in faces.astype(np.uint32)])
