"""Shapes with a formula."""

from dataclasses import dataclass
from functools import cached_property

import coal

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.shapes.shape import created, Length, Lengths, register_shape, Shape

SIDES = 48     # of what is round, where it is drawn


@register_shape('box')
@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box; `size` (3,) are its full lengths along x, y, z."""

    size: Lengths

    @cached_property
    def geometry(self) -> coal.Box:
        return coal.Box(*self.size)

    def surface(self) -> tuple[Array, Indices]:
        return created('box', self.size)


@register_shape('sphere')
@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball of that radius."""

    radius: Length

    @cached_property
    def geometry(self) -> coal.Capsule:
        # coal's Sphere gives wrong depths inside cylinders, a capsule without length does not
        return coal.Capsule(self.radius, 1e-9)

    def surface(self) -> tuple[Array, Indices]:
        return created('icosphere', 3, self.radius)


@register_shape('cylinder')
@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """A cylinder of `radius` and `length` along z."""

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
    """A cone with its tip at z = length / 2 and its base, of `radius`, at z = -length / 2."""

    radius: Length
    length: Length

    @cached_property
    def geometry(self) -> coal.Cone:
        return coal.Cone(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        vertices, triangles = created('cone', self.radius, self.length, sections=SIDES)
        return vertices - [0, 0, self.length / 2], triangles


@register_shape('capsule')
@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """All within `radius` of a line along z; `length` is the line's, without the caps."""

    radius: Length
    length: Length

    @cached_property
    def geometry(self) -> coal.Capsule:
        return coal.Capsule(self.radius, self.length)

    def surface(self) -> tuple[Array, Indices]:
        return created('capsule', self.length, self.radius, count=[SIDES, SIDES // 2])
