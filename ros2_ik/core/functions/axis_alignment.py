"""How a vector of one frame is turned away from a vector of another."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import as_vector
from ros2_ik.core.functions.direction_pair import DirectionPair, row_of
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.kernels.source import formula


@register_function('axis_alignment', drake='AddAngleBetweenVectorsConstraint (0, 0)',
                   pink='AxisAlignTask (mink), AxisAlignTask (placo)')
@dataclass(frozen=True, eq=False)
class AxisAlignment(DirectionPair):
    """
    How `vector` of `frame` is turned away from `other_vector` of `relative_to`, (2,).

    With a and b these vectors at length 1 and t the direction of a across b:

        f = angle(a, b) t     [rad], along two axes of `relative_to` at right angles to b

    Zero only where they are parallel, and smooth there. Not differentiable where they are
    antiparallel: f is pi long there in one fixed direction, and close to it the derivative
    across f, which grows without bound, stays below pi * 1e3.
    """

    labels = ('deviation 1 [rad]', 'deviation 2 [rad]')
    range = (-math.pi, math.pi)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        a = v.turn(B, v.vector(given, 0))
        f[0], one, f[1], two = as_vector(v.turn_back(A, a), v.vector(given, 3),
                                         v.vector(given, 6), v.vector(given, 9))
        row_of(W, 0, A, a, one)
        row_of(W, 1, A, a, two)
