"""Shapes with one coal geometry each: primitives, convex hulls, planes, half-spaces, octrees."""

from dataclasses import dataclass
from functools import cached_property
import math

import coal
import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import direction, finite, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.meshes import Hull, hull_of
from ros2_ik.core.scene.shapes.shape import Shape, trimesh_surface

SIDES = 48              # sides of the polygon that is drawn for a circle
EPSILON = 1e-15         # replaces zero components of a unit normal; too small to change distances
DRAWN_EDGE = 4.0        # edge of the part of a plane that is drawn [m]
DRAWN_THICKNESS = 1e-3  # thickness of the box that is drawn for a plane [m]


@dataclass(frozen=True, eq=False)
class Box(Shape, kind='box'):
    """A box with the full edge lengths `size` (3,) along x, y, z [m]."""

    size: Array

    @cached_property
    def geometry(self) -> coal.Box:
        return coal.Box(*self.size)

    def surface(self) -> tuple[Array, Indices]:
        return trimesh_surface('box', self.size)


@dataclass(frozen=True, eq=False)
class Sphere(Shape, kind='sphere'):
    """A ball of `radius` [m]."""

    radius: float

    @cached_property
    def geometry(self) -> coal.Capsule:
        # coal's Sphere returns wrong depths inside cylinders; a capsule of length 1e-9 m does not
        return coal.Capsule(self.radius, 1e-9)

    def surface(self) -> tuple[Array, Indices]:
        return trimesh_surface('icosphere', 3, self.radius)


@dataclass(frozen=True, eq=False)
class Cylinder(Shape, kind='cylinder'):
    """A cylinder along z, of `radius` and `length` [m]."""

    radius: float
    length: float

    @cached_property
    def geometry(self) -> coal.Cylinder:
        return coal.Cylinder(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        return trimesh_surface('cylinder', self.radius, self.length, sections=SIDES)


@dataclass(frozen=True, eq=False)
class Cone(Shape, kind='cone'):
    """A cone along z: its tip at z = length / 2, its base of `radius` at z = -length / 2 [m]."""

    radius: float
    length: float

    @cached_property
    def geometry(self) -> coal.Cone:
        return coal.Cone(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        vertices, triangles = trimesh_surface('cone', self.radius, self.length, sections=SIDES)
        # trimesh has the base at z = 0
        return vertices - [0, 0, self.length / 2], triangles


@dataclass(frozen=True, eq=False)
class Capsule(Shape, kind='capsule'):
    """A cylinder along z with hemispherical caps; `length` [m] does not include the caps."""

    radius: float
    length: float

    @cached_property
    def geometry(self) -> coal.Capsule:
        return coal.Capsule(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        return trimesh_surface('capsule', self.length, self.radius, count=[SIDES, SIDES // 2])


@dataclass(frozen=True, eq=False)
class ConvexHull(Shape, kind='convex_hull'):
    """Convex hull of `points` (n, 3) [m]; flat hulls grow by at least 0.1 mm on each side."""

    points: Array

    @cached_property
    def hull(self) -> Hull:
        """Vertices and faces of the hull."""
        return hull_of(self.points)

    @cached_property
    def geometry(self) -> coal.Convex:
        return self.hull.geometry

    def surface(self) -> tuple[Array, Indices]:
        return self.hull.vertices, self.hull.faces


@dataclass(frozen=True, eq=False)
class _PlaneShape(Shape):
    """The plane dot(normal, x) = offset, or one side of the plane."""

    normal: Array
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal = vector(self.normal, self.field_label('normal'), 3, InvalidSceneError)
        unit = direction(normal, self.field_label('normal'), InvalidSceneError)
        offset = finite(self.offset, self.field_label('offset'), InvalidSceneError)
        length = math.hypot(*normal)
        # keep a unit normal bit for bit: normalizing each copy would accumulate rounding errors
        if abs(length - 1) < 1e-12:
            unit, length = normal, 1.0
        self._set(normal=unit, offset=offset / length)

    def surface(self) -> tuple[Array, Indices]:
        # a thin box, centred at the point of the plane nearest to the origin
        vertices, triangles = trimesh_surface('box', (DRAWN_EDGE, DRAWN_EDGE, DRAWN_THICKNESS))
        rotation = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.array(self.normal))
        return vertices @ rotation.matrix().T + self.normal * self.offset, triangles


@dataclass(frozen=True, eq=False)
class HalfSpace(_PlaneShape, kind='half_space'):
    """The points x with dot(normal, x) <= offset; `normal` (3,) of any length is normalized."""

    @cached_property
    def geometry(self) -> coal.Halfspace:
        # with a normal exactly along an axis, coal 3.0 misses 40 % of the contacts with an octree
        return coal.Halfspace(np.where(np.equal(self.normal, 0.0), EPSILON, self.normal),
                              self.offset)


@dataclass(frozen=True, eq=False)
class Plane(_PlaneShape, kind='plane'):
    """The points x with dot(normal, x) = offset: a sheet without thickness, free on both sides."""

    @cached_property
    def geometry(self) -> coal.Plane:
        return coal.Plane(np.array(self.normal), self.offset)


@dataclass(frozen=True, eq=False)
class OcTree(Shape, kind='octree'):
    """
    Grid cells of edge length `resolution` [m] that contain `points` (n, 3) [m].

    Represented by coal.OcTree, whose distance queries are slow.
    """

    points: Array
    resolution: float

    def __post_init__(self) -> None:
        super().__post_init__()
        # octomap's keys have 16 bits: 2^15 cells on each side of the origin
        cells = np.abs(self.points).max() / self.resolution
        if cells >= 2 ** 15:
            raise InvalidSceneError(f'an octree of resolution {self.resolution:g} reaches '
                                    f'{2 ** 15 * self.resolution:g} m; a point is further away')

    @cached_property
    def geometry(self) -> coal.OcTree:
        return coal.makeOctree(np.array(self.points), self.resolution)

    def surface(self) -> tuple[Array, Indices]:
        corners, triangles = trimesh_surface('box', [self.resolution] * 3)
        firsts = 8 * np.arange(len(self.cells))[:, None, None]
        return (self.cells[:, None] + corners).reshape(-1, 3), (firsts + triangles).reshape(-1, 3)

    @cached_property
    def cells(self) -> Array:
        """Centres of the occupied cells (m, 3) [m], without duplicates."""
        return np.array(self.geometry.toBoxes())[:, :3]
