"""The distance between two points."""

from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.fields import Frame, Point
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula

COINCIDENT = 1e-12   # distance below which the direction of an offset is only rounding [m]


@register_function('point_to_point_distance', drake='AddPointToPointDistanceConstraint',
                   matlab='constraintDistanceBounds', moveit='PositionConstraint (sphere)',
                   pink='BodySphericalBarrier')
@dataclass(frozen=True, eq=False)
class PointToPointDistance(RelativeFunction):
    """
    Distance of `point` of `frame` from `other_point` of `relative_to`, (1,).

        f = |p_point - p_other|     [m]

    Not differentiable where the points coincide; the gradient there points along the x axis of
    `relative_to`. If the distance must be zero, the function is replaced by the three coordinates
    of the offset. Raises InvalidConstraintError for points that are not three finite numbers.
    """

    frame: Frame
    point: Point
    other_point: Point
    relative_to: Frame | None = None
    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def numbers(self) -> Parameters:
        return self.point, self.other_point

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # the gradient is the unit vector along the offset; without offset a fixed axis
        p = v.point(B, v.vector(parameters, 0))
        away = v.sub(p, v.point(A, v.vector(parameters, 3)))
        f[0] = distance = v.norm(away)
        v.force(W, 0, p, v.scale(1.0 / distance, away) if distance >= COINCIDENT
                else v.column(A, 0))

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        if upper[0] > 0:
            return None
        return FramePosition(self.frame, self.point, self.relative_to,
                             pin.SE3(np.eye(3), self.other_point))
