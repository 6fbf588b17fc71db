"""How a vector of one frame is turned away from a vector of another."""

import math

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.direction_pair import DirectionPair
from ros2_ik.core.functions.kinematic_function import register_function


@register_function('axis_alignment', drake='AddAngleBetweenVectorsConstraint (0, 0)',
                   pink='AxisAlignTask (mink), AxisAlignTask (placo)')
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

    def deviate(self, u: Array) -> tuple[Array, Array]:
        return self.deviation.vector(u)
