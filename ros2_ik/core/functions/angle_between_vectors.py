"""Angle between vectors of two frames."""

from dataclasses import dataclass
import math
from typing import Annotated, Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import across, as_vector, split
from ros2_ik.core.functions.fields import Axis, choice, Frame
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Form, FormedFunction
from ros2_ik.core.kernels.source import formula, part

FLAT = 1e-3   # least slope of the chord, which ends at zero opposite to `other_vector`


@part
def _row(W: Any, i: int, A: Any, turned: v.Vector, gradient: v.Vector) -> None:
    """Make row i that of a gradient by the vector seen from A, which is `turned` in the root."""
    v.moment(W, i, v.cross(turned, v.rotate(A, gradient)))    # g . (w x a) = (a x g) . w


@formula
def _angle(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    a = v.rotate(B, v.vector(given, 0))
    f[0], _, _, _, gradient = split(v.rotate_inverse(A, a), v.vector(given, 3), v.vector(given, 6),
                                    v.vector(given, 9))
    _row(W, 0, A, a, gradient)


@formula
def _vector(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    a = v.rotate(B, v.vector(given, 0))
    f[0], one, f[1], two = as_vector(v.rotate_inverse(A, a), v.vector(given, 3),
                                     v.vector(given, 6), v.vector(given, 9))
    _row(W, 0, A, a, one)
    _row(W, 1, A, a, two)


@formula
def _chord(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    a, axis = v.rotate(B, v.vector(given, 0)), v.vector(given, 3)
    u = v.rotate_inverse(A, a)
    chord = v.sub(u, axis)
    phi, _, _, _, along = split(u, axis, v.vector(given, 6), v.vector(given, 9))
    missing = max(FLAT - math.cos(0.5 * phi), 0.0)
    if missing > 0.0:
        missing /= v.norm(chord)
    for i in range(3):
        f[i] = min(max(chord[i], -2.0), 2.0)
        unit = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        _row(W, i, A, a, v.add(unit, v.scale(chord[i] * missing, along)))


FORMS = {'angle': Form(_angle, (0.0, math.pi), ('angle [rad]',)),
         'vector': Form(_vector, (-math.pi, math.pi), ('deviation 1 [rad]', 'deviation 2 [rad]')),
         'chord': Form(_chord, (-2.0, 2.0), ('chord x', 'chord y', 'chord z'))}


@register_function('angle_between_vectors',
                   drake='AddAngleBetweenVectorsConstraint, AddAngleBetweenVectorsCost',
                   moveit='VisibilityConstraint (max_view_angle)',
                   pink='AxisAlignTask (mink), AxisAlignTask (placo)')
@dataclass(frozen=True, eq=False)
class AngleBetweenVectors(FormedFunction):
    """
    Angle between `vector` of `frame` and `other_vector` of `relative_to`.

    With a and b these vectors at length 1, phi the angle between them and t the direction of a
    across b:

        angle   phi = atan2(|a x b|, a . b)   in [0, pi] [rad]
        vector  phi t                         [rad], along two axes at right angles to b
        chord   a - b                         2 sin(phi / 2) long, in the axes of `relative_to`:
                                              1/2 c |f|^2 = c (1 - cos(phi)), Drake's cost

    The gradient of the angle is a unit moment, at right angles to both; where they are parallel
    or antiparallel it turns in one fixed plane. Bounds "exactly 0" or "exactly pi" turn it into
    the vector, which is smooth where they are parallel. Where they are antiparallel the vector is
    pi long in one fixed direction, and close to it the derivative across it, which grows without
    bound, stays below pi * 1e3. The chord is smooth everywhere; where they are antiparallel its
    length has no slope, and the Jacobian keeps 1e-3 of it in one fixed plane, because a cost is
    greatest there.
    """

    frame: Frame
    vector: Axis
    other_vector: Axis
    relative_to: Frame | None = None
    form: Annotated[str, choice(*FORMS)] = 'angle'
    forms = FORMS
    opposite = 'other_vector'
    reference_field = 'other_vector'

    def numbers(self) -> Any:
        return self.vector, self.other_vector, across(self.other_vector)
