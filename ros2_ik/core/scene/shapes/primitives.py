"""Shapes with a formula."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ros2_ik.core.arrays import Array
from ros2_ik.core.meshes.geometry_library import coal
from ros2_ik.core.scene.shapes.shape import checked_length, checked_lengths, register_shape, Shape


@register_shape('box')
@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box; `size` (3,) are its full lengths along x, y, z."""

    size: Array

    def __post_init__(self) -> None:
        self._set(size=checked_lengths(self.size, 'the size of a box'))

    @cached_property
    def geometry(self) -> Any:
        return coal.Box(*self.size)


@register_shape('sphere')
@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball of that radius."""

    radius: float

    def __post_init__(self) -> None:
        self._set(radius=checked_length(self.radius, 'the radius of a sphere'))

    @cached_property
    def geometry(self) -> Any:
        # coal's Sphere gives wrong depths inside cylinders, a capsule without length does not
        return coal.Capsule(self.radius, 1e-9)


@dataclass(frozen=True, eq=False)
class _Round(Shape):
    """Shape with rotational symmetry about z."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        self._set(radius=checked_length(self.radius, f'the radius of a {self.kind}'),
                  length=checked_length(self.length, f'the length of a {self.kind}'))


@register_shape('cylinder')
@dataclass(frozen=True, eq=False)
class Cylinder(_Round):
    """A cylinder of `radius` and `length` along z."""

    @cached_property
    def geometry(self) -> Any:
        return coal.Cylinder(self.radius, self.length)


@register_shape('cone')
@dataclass(frozen=True, eq=False)
class Cone(_Round):
    """A cone with its tip at z = length / 2 and its base, of `radius`, at z = -length / 2."""

    @cached_property
    def geometry(self) -> Any:
        return coal.Cone(self.radius, self.length)


@register_shape('capsule')
@dataclass(frozen=True, eq=False)
class Capsule(_Round):
    """All within `radius` of a line along z; `length` is the line's, without the caps."""

    @cached_property
    def geometry(self) -> Any:
        return coal.Capsule(self.radius, self.length)


@register_shape('ellipsoid')
@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """An ellipsoid; `radii` (3,) are its half axes along x, y, z."""

    radii: Array

    def __post_init__(self) -> None:
        self._set(radii=checked_lengths(self.radii, 'the radii of an ellipsoid'))

    @cached_property
    def geometry(self) -> Any:
        return coal.Ellipsoid(*self.radii)
