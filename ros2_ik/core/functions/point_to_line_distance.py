"""The distance between a point and a line."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import direction, vector
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.deviation import across
from ros2_ik.core.functions.frame_pose import FARTHEST
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.point_to_point_distance import length
from ros2_ik.core.functions.relative_function import RelativeFunction


@register_function('point_to_line_distance', drake='AddPointToLineDistanceConstraint')
class PointToLineDistance(RelativeFunction):
    """
    How far `point` of `frame` is from a line fixed to `relative_to`, (1,).

    The line goes through `line_point` along `line_direction` n, without ends:

        f = |(I - n n^T) (p_point - p_line)|     [m]

    Not differentiable on the line: the gradient there is that of leaving it along one fixed
    perpendicular. A distance that must be zero becomes the offset's two rows across the line.
    Raises InvalidConstraintError for points that are not three finite numbers and a direction
    of length zero.
    """

    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def __init__(self, frame: str, point: Sequence[float] | Array,
                 line_point: Sequence[float] | Array, line_direction: Sequence[float] | Array,
                 relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.point = vector(point, 'point', 3, InvalidConstraintError)
        self.line_point = vector(line_point, 'line_point', 3, InvalidConstraintError,
                                 FARTHEST)
        self.line_direction = direction(line_direction, 'line_direction', InvalidConstraintError)
        self.across = across(self.line_direction)
        axes = np.array([*self.across, self.line_direction]).T
        T_relative_line = pin.SE3(axes, self.line_point)
        self._offset = FramePosition(frame, self.point, relative_to, T_relative_line, 'xy')

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        return length(*self._offset.measure(T_frame, T_relative))

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        return self._offset if upper[0] == 0 else None
