"""The chord between a vector of one frame and a vector of another."""

import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.direction_pair import DirectionPair
from ros2_ik.core.functions.kinematic_function import register_function

FLAT = 1e-3   # least slope away from `other_vector`, which ends at zero opposite to it


@register_function('direction_chord', drake='AddAngleBetweenVectorsCost')
class DirectionChord(DirectionPair):
    """
    How far the tip of `vector` of `frame` is from that of `other_vector`, both of length 1, (3,).

    With a and b these vectors in the axes of `relative_to`, and phi the angle between them:

        f = a - b     2 sin(phi / 2) long, so that 1/2 c |f|^2 = c (1 - cos(phi))

    Smooth everywhere. Where they are antiparallel |f| has no slope; the Jacobian keeps 1e-3 of it
    in one fixed plane, because a cost is greatest there, and that is no place to stay.
    """

    labels = ('chord x', 'chord y', 'chord z')
    range = (-2.0, 2.0)

    def deviate(self, u: Array) -> tuple[Array, Array]:
        f, G = u - self.other_vector, np.eye(3)
        angle, along = self.deviation.angle(u)
        missing = FLAT - math.cos(angle / 2)
        if missing > 0:
            G += np.outer(f / math.sqrt(f @ f), missing * along)
        return f.clip(-2, 2), G
