"""Unbounded shapes."""

from dataclasses import dataclass
from functools import cached_property
import math

import coal
import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import direction, finite, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene.shapes.shape import created, register_shape, Shape

EPSILON = 1e-15    # across a normal of length 1: not to be told in any distance
SHEET = 4.0        # edge of the part of a plane that is drawn [m]


@dataclass(frozen=True, eq=False)
class _Flat(Shape):
    """Plane n.x = d, or one side of it."""

    normal: Array
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal = vector(self.normal, self.called('normal'), 3, InvalidSceneError)
        unit = direction(normal, self.called('normal'), InvalidSceneError)
        offset = finite(self.offset, self.called('offset'), InvalidSceneError)
        length = math.hypot(*normal)
        if abs(length - 1) < 1e-12:    # a unit vector is kept exactly, so that copies do not drift
            unit, length = normal, 1.0
        self._set(normal=unit, offset=offset / length)

    def sheet(self) -> tuple[pin.SE3, tuple[float, float, float]]:
        """Return the part of the plane to draw: a thin box round its point nearest the origin."""
        normal = np.array(self.normal)
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal)
        return pin.SE3(turn.toRotationMatrix(), normal * self.offset), (SHEET, SHEET, 1e-3)

    def surface(self) -> tuple[Array, Indices]:
        place, size = self.sheet()
        vertices, triangles = created('box', size)
        return vertices @ place.rotation.T + place.translation, triangles


@register_shape('half_space')
@dataclass(frozen=True, eq=False)
class HalfSpace(_Flat):
    """All x with normal.x <= offset: solid below the plane. The normal need not be of length 1."""

    @cached_property
    def geometry(self) -> coal.Halfspace:
        # of an octree coal 3.0 misses two in five contacts where the normal is exactly an axis
        return coal.Halfspace(np.where(np.equal(self.normal, 0.0), EPSILON, self.normal),
                              self.offset)


@register_shape('plane')
@dataclass(frozen=True, eq=False)
class Plane(_Flat):
    """All x with normal.x = offset: a sheet without thickness that can be on either side of."""

    @cached_property
    def geometry(self) -> coal.Plane:
        return coal.Plane(np.array(self.normal), self.offset)
