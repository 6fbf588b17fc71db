"""Shapes with a formula."""

from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.scene.geometry_library import coal
from ros2_ik.core.scene.shapes.shape import (
    bounded,
    checked_length,
    checked_lengths,
    checked_padding,
    register_shape,
    Shape,
)


@register_shape('box')
@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box; `size` (3,) are its full lengths along x, y, z."""

    size: Array

    def __post_init__(self) -> None:
        self._set(size=checked_lengths(self.size, 'the size of a box'))

    @cached_property
    def geometry(self) -> Any:
        return bounded(coal.Box(*self.size))

    def padded(self, padding: float) -> 'Box':
        return Box(self.size + 2 * checked_padding(padding))

    @property
    def bounding_radius(self) -> float:
        return math.hypot(*self.size) / 2


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
        return bounded(coal.Capsule(self.radius, 1e-9))

    def padded(self, padding: float) -> 'Sphere':
        return Sphere(self.radius + checked_padding(padding))

    @property
    def bounding_radius(self) -> float:
        return self.radius + 1e-9


@dataclass(frozen=True, eq=False)
class _Round(Shape):
    """What is round about its axis z."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        self._set(radius=checked_length(self.radius, f'the radius of a {self.kind}'),
                  length=checked_length(self.length, f'the length of a {self.kind}'))

    @property
    def bounding_radius(self) -> float:
        return math.hypot(self.radius, self.length / 2)


@register_shape('cylinder')
@dataclass(frozen=True, eq=False)
class Cylinder(_Round):
    """A cylinder of `radius` and `length` along z."""

    @cached_property
    def geometry(self) -> Any:
        return bounded(coal.Cylinder(self.radius, self.length))

    def padded(self, padding: float) -> 'Cylinder':
        return Cylinder(self.radius + checked_padding(padding), self.length + 2 * padding)


@register_shape('cone')
@dataclass(frozen=True, eq=False)
class Cone(_Round):
    """A cone with its tip at z = length / 2 and its base, of `radius`, at z = -length / 2."""

    @cached_property
    def geometry(self) -> Any:
        return bounded(coal.Cone(self.radius, self.length))

    def padded(self, padding: float) -> 'Cone':
        # the sides move out by the padding, so the tip goes up by this, and the base down
        up = checked_padding(padding) * math.hypot(self.radius, self.length) / self.radius
        length = self.length + 2 * up
        return Cone(self.radius * length / self.length, length)


@register_shape('capsule')
@dataclass(frozen=True, eq=False)
class Capsule(_Round):
    """All within `radius` of a line along z; `length` is the line's, without the caps."""

    @cached_property
    def geometry(self) -> Any:
        return bounded(coal.Capsule(self.radius, self.length))

    def padded(self, padding: float) -> 'Capsule':
        return Capsule(self.radius + checked_padding(padding), self.length)

    @property
    def bounding_radius(self) -> float:
        return self.radius + self.length / 2


@register_shape('ellipsoid')
@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """An ellipsoid; `radii` (3,) are its half axes along x, y, z."""

    radii: Array

    def __post_init__(self) -> None:
        self._set(radii=checked_lengths(self.radii, 'the radii of an ellipsoid'))

    @cached_property
    def geometry(self) -> Any:
        return bounded(coal.Ellipsoid(*self.radii))

    def padded(self, padding: float) -> 'Ellipsoid':
        # the least of a family that contains the padded one, which is no ellipsoid:
        # (s + p)^2 <= s^2 (1 + p / c) + p (p + c) for its heights s
        p, c = checked_padding(padding), float(np.exp(np.log(self.radii).mean()))
        return Ellipsoid(np.sqrt(self.radii ** 2 * (1 + p / c) + p * (p + c)))

    @property
    def bounding_radius(self) -> float:
        return float(self.radii.max())
