"""The distance of a point from a line."""

from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.deviation import orthonormal_complement
from ros2_ik.core.functions.fields import Axis, Frame, Point
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.point_to_point_distance import COINCIDENT
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('point_to_line_distance', drake='AddPointToLineDistanceConstraint')
@dataclass(frozen=True, eq=False)
class PointToLineDistance(RelativeFunction):
    """
    Distance of `point` of `frame` from a line fixed to `relative_to`, (1,).

    The infinite line passes through `line_point` along the direction n = `line_direction`:

        f = |(I - n n^T) (p_point - p_line)|     [m]

    Not differentiable on the line; the gradient there points along one fixed perpendicular. If the
    distance must be zero, the function is replaced by the two coordinates perpendicular to the
    line. Raises InvalidConstraintError for points that are not three finite numbers and for a
    direction of length zero.
    """

    frame: Frame
    point: Point
    line_point: Point
    line_direction: Axis
    relative_to: Frame | None = None
    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def numbers(self) -> Parameters:
        return self.point, self.line_point, orthonormal_complement(self.line_direction)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        p = v.point(B, v.vector(parameters, 0))
        away = v.sub(p, v.point(A, v.vector(parameters, 3)))
        # component perpendicular to the line; its unit vector is the gradient
        one, two = v.rotate(A, v.vector(parameters, 6)), v.rotate(A, v.vector(parameters, 9))
        away = v.add(v.scale(v.dot(one, away), one), v.scale(v.dot(two, away), two))
        f[0] = distance = v.norm(away)
        v.force(W, 0, p, v.scale(1.0 / distance, away) if distance >= COINCIDENT else one)

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        if upper[0] > 0:
            return None
        # coordinates x and y of a frame on the line, whose z axis is the line
        axes = np.array([*orthonormal_complement(self.line_direction), self.line_direction]).T
        return FramePosition(self.frame, self.point, self.relative_to,
                             pin.SE3(axes, self.line_point), 'xy')
