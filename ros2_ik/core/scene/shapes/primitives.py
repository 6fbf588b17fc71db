"""Primitive shapes: box, sphere, cylinder, cone, capsule."""

from dataclasses import dataclass
from functools import cached_property

import coal

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.shapes.shape import created, Length, Lengths, register_shape, Shape

SIDES = 48     # sides of the polygon that is drawn for a circle


@register_shape('box')
@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box; `size` (3,) are its full edge lengths along x, y, z [m]."""

    size: Lengths

    @cached_property
    def geometry(self) -> coal.Box:
        return coal.Box(*self.size)

    def surface(self) -> tuple[Array, Indices]:
        return created('box', self.size)


@register_shape('sphere')
@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball of `radius` [m]."""

    radius: Length

    @cached_property
    def geometry(self) -> coal.Capsule:
        # coal's Sphere returns wrong depths inside cylinders; a capsule of length 0 does not
        return coal.Capsule(self.radius, 1e-9)

    def surface(self) -> tuple[Array, Indices]:
        return created('icosphere', 3, self.radius)


@register_shape('cylinder')
@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """A cylinder along z, of `radius` and `length` [m]."""

    radius: Length
    length: Length

    @cached_property
    def geometry(self) -> coal.Cylinder:
        return coal.Cylinder(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        return created('cylinder', self.radius, self.length, sections=SIDES)


@register_shape('cone')
@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """A cone along z: its tip at z = length / 2, its base of `radius` at z = -length / 2 [m]."""

    radius: Length
    length: Length

    @cached_property
    def geometry(self) -> coal.Cone:
        return coal.Cone(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        vertices, triangles = created('cone', self.radius, self.length, sections=SIDES)
        # trimesh has the base at z = 0
        return vertices - [0, 0, self.length / 2], triangles


@register_shape('capsule')
@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder along z with hemispherical caps; `length` is that of the cylinder [m]."""

    radius: Length
    length: Length

    @cached_property
    def geometry(self) -> coal.Capsule:
        return coal.Capsule(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        return created('capsule', self.length, self.radius, count=[SIDES, SIDES // 2])
