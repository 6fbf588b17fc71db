"""The distance between a point and a line."""

from dataclasses import dataclass
import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.deviation import across
from ros2_ik.core.functions.fields import Axis, Frame, Point
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.point_to_point_distance import COINCIDENT
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('point_to_line_distance', drake='AddPointToLineDistanceConstraint')
@dataclass(frozen=True, eq=False)
class PointToLineDistance(RelativeFunction):
    """
    Distance of `point` of `frame` from a line fixed to `relative_to`, (1,).

    The line goes through `line_point` along `line_direction` n, without ends:

        f = |(I - n n^T) (p_point - p_line)|     [m]

    Not differentiable on the line: the gradient there is that of leaving it along one fixed
    perpendicular. A distance that must be zero becomes the offset's two rows across the line.
    Raises InvalidConstraintError for points that are not three finite numbers and a direction
    of length zero.
    """

    frame: Frame
    point: Point
    line_point: Point
    line_direction: Axis
    relative_to: Frame | None = None
    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def numbers(self) -> Any:
        return self.point, self.line_point, across(self.line_direction)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        p = v.point(B, v.vector(given, 0))
        away = v.sub(p, v.point(A, v.vector(given, 3)))
        one, two = v.rotate(A, v.vector(given, 6)), v.rotate(A, v.vector(given, 9))
        away = v.add(v.scale(v.dot(one, away), one), v.scale(v.dot(two, away), two))
        f[0] = distance = v.norm(away)
        v.force(W, 0, p, v.scale(1.0 / distance, away) if distance >= COINCIDENT else one)

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        if upper[0] > 0:
            return None
        axes = np.array([*across(self.line_direction), self.line_direction]).T
        return FramePosition(self.frame, self.point, self.relative_to,
                             pin.SE3(axes, self.line_point), 'xy')
