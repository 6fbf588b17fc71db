"""The angle between a camera's axis and the ray to its target."""

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.deviation import split
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.look_at import LookAt
from ros2_ik.core.functions.sight import ray_to, row_of, Sight, TOUCHING
from ros2_ik.core.kernels.source import formula


@register_function('gaze_angle', drake='AddGazeTargetConstraint', matlab='constraintAiming',
                   moveit='VisibilityConstraint (max_range_angle)')
@dataclass(frozen=True, eq=False)
class GazeAngle(Sight):
    """
    The angle between `axis` of `frame` and the ray from `origin` to `target`, in [0, pi], (1,).

    `origin` and `axis` are of `frame`, `target` is of `relative_to`. With u the ray's direction
    and n the axis at length 1:

        f = atan2(|u - (u . n) n|, u . n)     [rad]

    A cone of any half angle up to pi is an upper bound. Not differentiable at 0 and pi: there it
    turns in one fixed plane. A target at the origin (within 1e-9 m) counts as exactly behind, f =
    pi: only the cone of pi takes it, and the gradient draws the frame back along its axis. Below
    1e-3 m the gradient no longer grows. The bounds "exactly 0" and "exactly pi" become a LookAt.
    """

    labels = ('gaze angle [rad]',)
    range = (0.0, math.pi)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        target = v.point(A, v.vector(given, 12))
        distance, u = ray_to(B, target, given)
        f[0], _, _, _, gradient = split(u, v.vector(given, 0), v.vector(given, 3),
                                        v.vector(given, 6))
        row_of(W, 0, B, target, distance, gradient if distance > TOUCHING else u)

    def equality_form(self, lower: Array, upper: Array) -> LookAt | None:
        if upper[0] <= 0:
            return LookAt(self.frame, self.origin, self.axis, self.target, self.relative_to)
        if lower[0] >= math.pi:
            return LookAt(self.frame, self.origin, np.negative(self.axis), self.target,
                          self.relative_to)
        return None
