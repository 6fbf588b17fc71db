"""Angle between a vector of one frame and a vector of another."""

from dataclasses import dataclass
import math
from typing import Annotated

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import (
    deviation_angle,
    deviation_vector,
    orthonormal_complement,
)
from ros2_ik.core.functions.fields import Axis, choice, Frame
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Form, FormedFunction, Parameters
from ros2_ik.core.kernels.source import formula, part

FLAT = 1e-3   # least slope of the chord's length, which is zero opposite to `other_vector`


@part
def _row(W: v.Buffer, i: int, A: v.Floats, turned: v.Vector, gradient: v.Vector) -> None:
    """
    Set row i of W to the wrench of a gradient w.r.t. the vector, in the axes of A.

    `turned` is the vector in the root frame's axes.
    """
    # rate g . (w x a) = (a x g) . w: a pure moment
    v.moment(W, i, v.cross(turned, v.rotate(A, gradient)))


@formula
def _angle(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
    a = v.rotate(B, v.vector(parameters, 0))
    f[0], _, _, _, gradient = deviation_angle(
        v.rotate_inverse(A, a), v.vector(parameters, 3), v.vector(parameters, 6),
        v.vector(parameters, 9))
    _row(W, 0, A, a, gradient)


@formula
def _vector(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
    a = v.rotate(B, v.vector(parameters, 0))
    f[0], one, f[1], two = deviation_vector(
        v.rotate_inverse(A, a), v.vector(parameters, 3), v.vector(parameters, 6),
        v.vector(parameters, 9))
    _row(W, 0, A, a, one)
    _row(W, 1, A, a, two)


@formula
def _chord(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
    a, axis = v.rotate(B, v.vector(parameters, 0)), v.vector(parameters, 3)
    u = v.rotate_inverse(A, a)
    chord = v.sub(u, axis)
    phi, _, _, _, along = deviation_angle(u, axis, v.vector(parameters, 6),
                                          v.vector(parameters, 9))
    # near phi = pi, raise the slope cos(phi / 2) of the chord's length to at least FLAT
    missing = max(FLAT - math.cos(0.5 * phi), 0.0)
    if missing > 0.0:
        missing /= v.norm(chord)
    for i in range(3):
        # rounding can exceed 2
        f[i] = min(max(chord[i], -2.0), 2.0)
        # gradient of component i, plus what is missing along the direction of the chord
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

    a and b are the unit vectors, phi is the angle between them, t the unit vector along the
    component of a perpendicular to b:

        angle   phi = atan2(|a x b|, a . b)   in [0, pi] [rad]
        vector  phi t                         [rad], along two axes perpendicular to b
        chord   a - b                         of length 2 sin(phi / 2), in axes of `relative_to`:
                                              1/2 c |f|^2 = c (1 - cos(phi)), Drake's cost

    angle: the gradient is a unit moment perpendicular to a and b. It is not unique where they are
    parallel or antiparallel; there it is a moment about one fixed axis. Bounds of exactly 0 or
    exactly pi replace the angle by the vector.

    vector: smooth where a and b are parallel. Where they are antiparallel it has length pi in one
    fixed direction. Near there one derivative grows without bound; it is limited to pi * 1e3.

    chord: smooth everywhere. Where a and b are antiparallel, the gradient of its length is zero
    although a cost is greatest there; the Jacobian keeps a slope of 1e-3 in one fixed plane.
    """

    frame: Frame
    vector: Axis
    other_vector: Axis
    relative_to: Frame | None = None
    form: Annotated[str, choice(*FORMS)] = 'angle'
    forms = FORMS
    opposite = 'other_vector'
    reference_field = 'other_vector'

    def numbers(self) -> Parameters:
        return self.vector, self.other_vector, orthonormal_complement(self.other_vector)
