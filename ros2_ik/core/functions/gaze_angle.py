"""Angle between a camera's axis and the line of sight to a target."""

from dataclasses import dataclass
import math
from typing import Annotated

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import (
    deviation_angle,
    deviation_vector,
    orthonormal_complement,
)
from ros2_ik.core.functions.fields import Axis, choice, Frame, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Form, FormedFunction, Parameters
from ros2_ik.core.kernels.source import formula, part

TOUCHING = 1e-9   # distance of a target below which the line of sight has no direction [m]
CLOSE = 1e-3      # distance below which the gradient, 1 / distance, no longer grows [m]


@part
def _ray_to(B: v.Floats, target: v.Vector, parameters: v.Floats) -> tuple[float, v.Vector]:
    """Return the distance of a target from the origin, and its direction in the axes of B."""
    # parameters: axis (3), its perpendiculars (6), origin (3), target (3)
    ray = v.sub(v.to_local(B, target), v.vector(parameters, 9))
    distance = v.norm(ray)
    if distance > TOUCHING:
        return distance, v.scale(1.0 / distance, ray)
    # a target at the origin counts as exactly behind
    return distance, v.scale(-1.0, v.vector(parameters, 0))


@part
def _row(W: v.Buffer, i: int, B: v.Floats, target: v.Vector, distance: float,
         gradient: v.Vector) -> None:
    """Set row i of W to the wrench of a gradient w.r.t. the direction of the line of sight."""
    # negative, as the frame's motion moves the target backwards in the frame
    v.force(W, i, target, v.scale(-1.0 / max(distance, CLOSE), v.rotate(B, gradient)))


@formula
def _angle(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
    target = v.point(A, v.vector(parameters, 12))
    distance, u = _ray_to(B, target, parameters)
    f[0], _, _, _, gradient = deviation_angle(u, v.vector(parameters, 0), v.vector(parameters, 3),
                                              v.vector(parameters, 6))
    _row(W, 0, B, target, distance, gradient if distance > TOUCHING else u)


@formula
def _vector(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
    target = v.point(A, v.vector(parameters, 12))
    distance, u = _ray_to(B, target, parameters)
    f[0], one, f[1], two = deviation_vector(u, v.vector(parameters, 0), v.vector(parameters, 3),
                                            v.vector(parameters, 6))
    # no direction: a gradient that draws the frame back along its axis
    if distance <= TOUCHING:
        one, two = v.scale(f[0] / math.pi, u), v.scale(f[1] / math.pi, u)
    _row(W, 0, B, target, distance, one)
    _row(W, 1, B, target, distance, two)


FORMS = {'angle': Form(_angle, (0.0, math.pi), ('gaze angle [rad]',)),
         'vector': Form(_vector, (-math.pi, math.pi), ('deviation 1 [rad]', 'deviation 2 [rad]'))}


@register_function('gaze_angle', drake='AddGazeTargetConstraint', matlab='constraintAiming',
                   moveit='VisibilityConstraint (max_range_angle)', pink='LookAtTask (mink)')
@dataclass(frozen=True, eq=False)
class GazeAngle(FormedFunction):
    """
    Angle between `axis` and the line of sight from `origin` to `target`.

    `origin` and `axis` are in `frame` (a camera), `target` is in `relative_to`. u is the direction
    of the line of sight, n the unit axis, t the unit vector along u's component perpendicular
    to n:

        angle   phi = atan2(|u - (u . n) n|, u . n)   in [0, pi] [rad]
        vector  phi t                                 [rad], along two axes perpendicular to n

    An upper bound of the angle is a cone, of any half angle up to pi. The angle is not
    differentiable at 0 and pi; there the gradient lies in one fixed plane. Bounds of exactly 0 or
    exactly pi replace the angle by the vector, which is smooth if the target is straight ahead. If
    the target is straight behind, the vector has length pi in one fixed direction; near there one
    derivative grows without bound and is limited to pi * 1e3 / distance.

    A target at the origin (within 1e-9 m) counts as straight behind: only a bound of pi allows
    it. A descent moves the frame along -n until the target is ahead. The
    gradient grows as 1 / distance down to 1e-3 m.
    """

    frame: Frame
    origin: Point
    axis: Axis
    target: Point
    relative_to: Frame | None = None
    form: Annotated[str, choice(*FORMS)] = 'angle'
    forms = FORMS
    opposite = 'axis'
    reference_field = 'target'

    def numbers(self) -> Parameters:
        return self.axis, orthonormal_complement(self.axis), self.origin, self.target
