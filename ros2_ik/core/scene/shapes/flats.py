"""Unbounded shapes: plane and half space."""

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

EPSILON = 1e-15         # replaces zero components of a unit normal, without effect on distances
DRAWN_EDGE = 4.0        # edge of the part of a plane that is drawn [m]
DRAWN_THICKNESS = 1e-3  # thickness of that part [m]


@dataclass(frozen=True, eq=False)
class _Flat(Shape):
    """The plane normal.x = offset, or one side of the plane."""

    normal: Array
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal = vector(self.normal, self.called('normal'), 3, InvalidSceneError)
        unit = direction(normal, self.called('normal'), InvalidSceneError)
        offset = finite(self.offset, self.called('offset'), InvalidSceneError)
        length = math.hypot(*normal)
        # a unit normal is kept bit by bit: normalizing each copy again would let it drift
        if abs(length - 1) < 1e-12:
            unit, length = normal, 1.0
        self._set(normal=unit, offset=offset / length)

    def sheet(self) -> tuple[pin.SE3, tuple[float, float, float]]:
        """Return pose and size of a thin box to draw, centred on the point nearest the origin."""
        normal = np.array(self.normal)
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal)
        return (pin.SE3(turn.toRotationMatrix(), normal * self.offset),
                (DRAWN_EDGE, DRAWN_EDGE, DRAWN_THICKNESS))

    def surface(self) -> tuple[Array, Indices]:
        pose, size = self.sheet()
        vertices, triangles = created('box', size)
        return vertices @ pose.rotation.T + pose.translation, triangles


@register_shape('half_space')
@dataclass(frozen=True, eq=False)
class HalfSpace(_Flat):
    """The points x with normal.x <= offset; a normal (3,) of any length is normalized."""

    @cached_property
    def geometry(self) -> coal.Halfspace:
        # coal 3.0 misses 40 % of the contacts with an octree if the normal is exactly an axis
        return coal.Halfspace(np.where(np.equal(self.normal, 0.0), EPSILON, self.normal),
                              self.offset)


@register_shape('plane')
@dataclass(frozen=True, eq=False)
class Plane(_Flat):
    """The points x with normal.x = offset: a sheet without thickness, free on both sides."""

    @cached_property
    def geometry(self) -> coal.Plane:
        return coal.Plane(np.array(self.normal), self.offset)
