"""Angles between an axis of a frame and a vector of another frame or a line of sight."""

from dataclasses import dataclass
import math
from typing import Annotated

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.fields import Axis, choice, Frame, Numbers, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Form, FormedFunction, Parameters
from ros2_ik.core.kernels.source import formula, part

MIN_SINE = 1e-15          # sine of an angle below which rounding determines the plane of the angle
MIN_SINE_NEAR_PI = 1e-3   # for phi near pi: least sin(phi) in the factor phi / sin(phi)
ANGLE, VECTOR, CHORD = range(3)     # numbers of the forms, in the order of `forms`


def orthonormal_complement(axis: Numbers) -> Array:
    """Return two unit vectors perpendicular to a unit vector (3,) and to each other, (2, 3)."""
    # project the coordinate axis least parallel to n onto the plane normal to n
    n = v.vector([float(value) for value in axis], 0)
    lengths = [abs(value) for value in n]
    least = lengths.index(min(lengths))
    first = v.scale(-n[least], n)
    first = v.add(first, (float(least == 0), float(least == 1), float(least == 2)))
    first = v.scale(1.0 / v.norm(first), first)
    return np.array([first, v.cross(n, first)])


@part
def deviation(u: v.Vector, axis: v.Vector, one: v.Vector, two: v.Vector
              ) -> tuple[float, v.Vector, float, v.Vector, float, v.Vector]:
    """
    Return phi, phi * x and phi * y, each followed by its gradient w.r.t. the unit vector u.

    phi is the angle in [0, pi] between u and the axis; its gradient is a unit vector perpendicular
    to u. `one` and `two` are the `orthonormal_complement` of the axis. x and y are the components
    of u along `one` and `two`, divided by their norm; they are 1 and 0 if u is parallel or
    antiparallel to the axis. The vector phi (x, y) is zero only if u is parallel to the axis, and
    is smooth there; if u is antiparallel, the vector has length pi.
    """
    # components of u along one, two and the axis
    x, y, cosine = v.dot(one, u), v.dot(two, u), v.dot(axis, u)
    sine = math.sqrt(x * x + y * y)
    phi = math.atan2(sine, cosine)
    if sine > MIN_SINE:
        x, y = x / sine, y / sine
    else:
        x, y = 1.0, 0.0
    # phi / sin(phi): limited near pi, 1 at zero
    if cosine <= 0:
        stretch = phi / max(sine, MIN_SINE_NEAR_PI)
    else:
        stretch = phi / sine if sine > MIN_SINE else 1.0
    # gradient of phi: perpendicular to u, in the plane of the angle, away from the axis
    outward = v.add(v.scale(x, one), v.scale(y, two))
    along = v.sub(v.scale(cosine, outward), v.scale(sine, axis))
    # derivative of the direction (x, y), scaled by phi
    sideways = v.scale(stretch, v.sub(v.scale(x, two), v.scale(y, one)))
    return (phi, along, phi * x, v.sub(v.scale(x, along), v.scale(y, sideways)),
            phi * y, v.add(v.scale(y, along), v.scale(x, sideways)))


MIN_CHORD_SLOPE = 1e-3  # least d(chord length) / d(phi); the true slope at phi = pi is 0


@part
def _row(W: v.Buffer, i: int, A: v.Floats, turned: v.Vector, gradient: v.Vector) -> None:
    """
    Set row i of W to the wrench for a gradient w.r.t. the unit vector that is fixed to `frame`.

    `gradient` is in the axes of A; `turned` is the vector in the root frame's axes.
    """
    # rate at angular velocity w: g . (w x turned) = (turned x g) . w, with g = rotated gradient
    v.moment(W, i, v.cross(turned, v.rotate(A, gradient)))


ANGLE_FORMS = {'angle': Form((0.0, math.pi), ('angle [rad]',)),
               'vector': Form((-math.pi, math.pi), ('deviation 1 [rad]', 'deviation 2 [rad]')),
               'chord': Form((-2.0, 2.0), ('chord x', 'chord y', 'chord z'))}


@register_function('angle_between_vectors')
@dataclass(frozen=True, eq=False)
class AngleBetweenVectors(FormedFunction):
    """
    Angle between `vector` of `frame` and `other_vector` of `relative_to`.

    a and b are the two vectors, scaled to length 1; phi is the angle between them; t is the unit
    vector along a - (a . b) b:

        angle   phi = atan2(|a x b|, a . b)   in [0, pi] [rad]
        vector  phi t                         [rad], along two axes perpendicular to b
        chord   a - b                         of length 2 sin(phi / 2), in axes of `relative_to`;
                                              weight c gives cost c (1 - cos(phi)), as in Drake

    angle: the wrench of the row is a unit moment perpendicular to a and b. If a and b are parallel
    or antiparallel, the axis of the moment is not unique: one fixed axis is used. If the bounds
    allow only 0, or only pi, solvers use the vector instead (for pi, with -b).

    vector: smooth where a and b are parallel. Where they are antiparallel, the vector has length
    pi in one fixed direction; nearby, one derivative grows up to a limit of pi * 1e3.

    chord: smooth everywhere. Where a and b are antiparallel, the chord's length is at its
    maximum with gradient zero, but the Jacobian keeps a slope of 1e-3 in one fixed plane.
    """

    frame: Frame
    vector: Axis
    other_vector: Axis
    relative_to: Frame | None = None
    form: Annotated[str, choice(*ANGLE_FORMS)] = 'angle'
    forms = ANGLE_FORMS
    opposite = 'other_vector'
    reference_field = 'other_vector'

    def numbers(self) -> Parameters:
        return (self.vector, self.other_vector, orthonormal_complement(self.other_vector),
                self.form_number)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: vector (3), other vector (3), its perpendiculars (6), number of the form
        a, axis = v.rotate(B, v.vector(parameters, 0)), v.vector(parameters, 3)
        u, form = v.rotate_inverse(A, a), parameters[12]
        phi, along, x, one, y, two = deviation(u, axis, v.vector(parameters, 6),
                                               v.vector(parameters, 9))
        if form == ANGLE:
            f[0] = phi
            _row(W, 0, A, a, along)
        elif form == VECTOR:
            f[0], f[1] = x, y
            _row(W, 0, A, a, one)
            _row(W, 1, A, a, two)
        else:
            chord = v.sub(u, axis)
            # near phi = pi, raise the slope cos(phi / 2) of the chord's length to the minimum
            missing = max(MIN_CHORD_SLOPE - math.cos(0.5 * phi), 0.0)
            if missing > 0.0:
                missing /= v.norm(chord)
            for i in range(3):
                # rounding can make a component exceed 2
                f[i] = min(max(chord[i], -2.0), 2.0)
                # gradient of chord[i], plus component i's share of the missing slope
                unit = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
                _row(W, i, A, a, v.add(unit, v.scale(chord[i] * missing, along)))


MIN_RAY_LENGTH = 1e-9     # target distance below which the line of sight has no direction [m]
MAX_SLOPE_LENGTH = 1e-3   # distance below which the gradient, 1 / distance, no longer grows [m]


@part
def _ray_row(W: v.Buffer, i: int, B: v.Floats, target: v.Vector, distance: float,
         gradient: v.Vector) -> None:
    """Set row i of W to the wrench for a gradient w.r.t. the direction of the line of sight."""
    # negative: seen from the frame, the target moves opposite to the frame
    v.force(W, i, target, v.scale(-1.0 / max(distance, MAX_SLOPE_LENGTH), v.rotate(B, gradient)))


GAZE_FORMS = {'angle': Form((0.0, math.pi), ('gaze angle [rad]',)),
              'vector': ANGLE_FORMS['vector']}


@register_function('gaze_angle')
@dataclass(frozen=True, eq=False)
class GazeAngle(FormedFunction):
    """
    Angle between `axis` and the line of sight from `origin` to `target`.

    `origin` and `axis` are in `frame` (a camera), `target` is in `relative_to`. u is the direction
    of the line of sight, n the unit axis, t the unit vector along u's component perpendicular
    to n:

        angle   phi = atan2(|u - (u . n) n|, u . n)   in [0, pi] [rad]
        vector  phi t                                 [rad], along two axes perpendicular to n

    An upper bound of the angle keeps the target in a cone, of any half angle up to pi. The angle
    is not differentiable at 0 and pi; the gradient there is for one fixed direction t. If the
    bounds allow only 0, or only pi, solvers use the vector instead (for pi, with -n). The vector
    is smooth if the target is straight ahead. If the target is straight behind, the vector has
    length pi in one fixed direction; nearby, one derivative grows up to pi * 1e3 / distance.

    A target at `origin` (within 1e-9 m) counts as straight behind: an upper bound below pi
    excludes it. From there, a descent moves the frame along -n until the target is ahead. The
    gradient grows as 1 / distance until the distance is below 1e-3 m.
    """

    frame: Frame
    origin: Point
    axis: Axis
    target: Point
    relative_to: Frame | None = None
    form: Annotated[str, choice(*GAZE_FORMS)] = 'angle'
    forms = GAZE_FORMS
    opposite = 'axis'
    reference_field = 'target'

    def numbers(self) -> Parameters:
        return (self.axis, orthonormal_complement(self.axis), self.origin, self.target,
                self.form_number)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: axis (3), its perpendiculars (6), origin (3), target (3), form
        target, axis = v.point(A, v.vector(parameters, 12)), v.vector(parameters, 0)
        ray = v.sub(v.to_local(B, target), v.vector(parameters, 9))
        distance = v.norm(ray)
        # a target at `origin` counts as straight behind
        u = v.scale(1.0 / distance, ray) if distance > MIN_RAY_LENGTH else v.scale(-1.0, axis)
        phi, gradient, x, one, y, two = deviation(u, axis, v.vector(parameters, 3),
                                                  v.vector(parameters, 6))
        # the line of sight has no direction: use a gradient that moves the frame back along n
        if distance <= MIN_RAY_LENGTH:
            gradient, one, two = u, v.scale(x / math.pi, u), v.scale(y / math.pi, u)
        if parameters[15] == VECTOR:
            f[0], f[1] = x, y
            _ray_row(W, 0, B, target, distance, one)
            _ray_row(W, 1, B, target, distance, two)
        else:
            f[0] = phi
            _ray_row(W, 0, B, target, distance, gradient)
