"""The angle between a vector of one frame and a vector of another."""

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.axis_alignment import AxisAlignment
from ros2_ik.core.functions.deviation import split
from ros2_ik.core.functions.direction_pair import DirectionPair, row_of
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.kernels.source import formula


@register_function('angle_between_vectors',
                   drake='AddAngleBetweenVectorsConstraint, AddAngleBetweenVectorsCost',
                   moveit='VisibilityConstraint (max_view_angle)')
@dataclass(frozen=True, eq=False)
class AngleBetweenVectors(DirectionPair):
    """
    The angle between `vector` of `frame` and `other_vector` of `relative_to`, in [0, pi], (1,).

        f = atan2(|a x b|, a . b)     [rad], for vectors a, b of any length but zero

    Its gradient is a unit moment, at right angles to both. Not differentiable where they are
    parallel or antiparallel: there it turns in one fixed plane. The bounds "exactly 0" and
    "exactly pi" become an AxisAlignment.
    """

    labels = ('angle [rad]',)
    range = (0.0, math.pi)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        a = v.turn(B, v.vector(given, 0))
        f[0], _, _, _, gradient = split(v.turn_back(A, a), v.vector(given, 3),
                                        v.vector(given, 6), v.vector(given, 9))
        row_of(W, 0, A, a, gradient)

    def equality_form(self, lower: Array, upper: Array) -> AxisAlignment | None:
        if upper[0] <= 0:
            return AxisAlignment(self.frame, self.vector, self.other_vector, self.relative_to)
        if lower[0] >= math.pi:
            return AxisAlignment(self.frame, self.vector, np.negative(self.other_vector),
                                 self.relative_to)
        return None
