"""The distance between two points."""

from dataclasses import dataclass
import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.fields import Frame, Point
from ros2_ik.core.functions.frame_position import FramePosition
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import formula

COINCIDENT = 1e-12   # [m]; the direction of a shorter offset is rounding


@register_function('point_to_point_distance', drake='AddPointToPointDistanceConstraint',
                   matlab='constraintDistanceBounds', moveit='PositionConstraint (sphere)',
                   pink='BodySphericalBarrier')
@dataclass(frozen=True, eq=False)
class PointToPointDistance(RelativeFunction):
    """
    Distance of `point` of `frame` from `other_point` of `relative_to`, (1,).

        f = |p_point - p_other|     [m]

    Not differentiable where the points coincide: the gradient there is that of moving apart
    along the x axis of `relative_to`. A distance that must be zero becomes the offset's three
    rows. Raises InvalidConstraintError for points that are not three finite numbers.
    """

    frame: Frame
    point: Point
    other_point: Point
    relative_to: Frame | None = None
    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def numbers(self) -> Any:
        return self.point, self.other_point

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        p = v.point(B, v.vector(given, 0))
        away = v.sub(p, v.point(A, v.vector(given, 3)))
        f[0] = distance = v.norm(away)
        v.force(W, 0, p, v.scale(1.0 / distance, away) if distance >= COINCIDENT
                else v.column(A, 0))

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        if upper[0] > 0:
            return None
        return FramePosition(self.frame, self.point, self.relative_to,
                             pin.SE3(np.eye(3), self.other_point))
