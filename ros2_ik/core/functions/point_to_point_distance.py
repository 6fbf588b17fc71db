"""The distance between two points."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.frame_pose import FARTHEST
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.relative_function import RelativeFunction

COINCIDENT = 1e-12   # [m]; the direction of a shorter offset is rounding


@register_function('point_to_point_distance', drake='AddPointToPointDistanceConstraint',
                   matlab='constraintDistanceBounds', moveit='PositionConstraint (sphere)',
                   pink='BodySphericalBarrier')
class PointToPointDistance(RelativeFunction):
    """
    How far `point` of `frame` is from `other_point` of `relative_to`, (1,).

        f = |p_point - p_other|     [m]

    Not differentiable where the points coincide: the gradient there is that of moving apart
    along the x axis of `relative_to`. A distance that must be zero becomes the offset's three
    rows. Raises InvalidConstraintError for points that are not three finite numbers.
    """

    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def __init__(self, frame: str, point: Sequence[float] | Array,
                 other_point: Sequence[float] | Array, relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.point = vector(point, 'point', 3, InvalidConstraintError)
        self.other_point = vector(other_point, 'other_point', 3, InvalidConstraintError,
                                  FARTHEST)
        self._offset = FramePosition(frame, self.point, relative_to,
                                     pin.SE3(np.eye(3), self.other_point))

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        return length(*self._offset.measure(T_frame, T_relative))

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        return self._offset if upper[0] == 0 else None


def length(offset: Array, W: Array) -> tuple[Array, Array]:
    """Give the length of an offset (m,) with wrenches W (m, 6), (1,), and its wrench, (1, 6)."""
    distance = math.hypot(*offset.tolist())
    if distance < COINCIDENT:   # growth along any unit vector is a subgradient; take the first
        return np.array([distance]), W[:1]
    return np.array([distance]), (offset / distance @ W)[None]
