"""The chord between a vector of one frame and a vector of another."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import split
from ros2_ik.core.functions.direction_pair import DirectionPair, row_of
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.kernels.source import formula

FLAT = 1e-3   # least slope away from `other_vector`, which ends at zero opposite to it


@register_function('direction_chord', drake='AddAngleBetweenVectorsCost')
@dataclass(frozen=True, eq=False)
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

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        a, axis = v.turn(B, v.vector(given, 0)), v.vector(given, 3)
        u = v.turn_back(A, a)
        chord = v.sub(u, axis)
        phi, _, _, _, along = split(u, axis, v.vector(given, 6), v.vector(given, 9))
        missing = max(FLAT - math.cos(0.5 * phi), 0.0)
        if missing > 0.0:
            missing /= v.norm(chord)
        for i in range(3):
            f[i] = min(max(chord[i], -2.0), 2.0)
            unit = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
            row_of(W, i, A, a, v.add(unit, v.times(chord[i] * missing, along)))
