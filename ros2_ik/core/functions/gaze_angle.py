"""Angle between a camera's axis and the line of sight to a target."""

from dataclasses import dataclass
import math
from typing import Annotated, Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import across, as_vector, split
from ros2_ik.core.functions.fields import Axis, choice, Frame, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Form, FormedFunction
from ros2_ik.core.kernels.source import formula, part

TOUCHING = 1e-9   # [m], closer than that a ray has no direction
CLOSE = 1e-3      # [m], the gradient grows as 1 / distance down to there


@part
def _ray_to(B: Any, target: v.Vector, given: Any) -> Any:
    """Return distance and direction of a target, in the axes of B; against the axis at none."""
    ray = v.sub(v.to_local(B, target), v.vector(given, 9))
    distance = v.norm(ray)
    if distance > TOUCHING:
        return distance, v.scale(1.0 / distance, ray)
    return distance, v.scale(-1.0, v.vector(given, 0))


@part
def _row(W: Any, i: int, B: Any, target: v.Vector, distance: float,
         gradient: v.Vector) -> None:
    """Make row i that of a gradient by the ray's direction."""
    # seen from the frame the target moves, against the frame's own motion
    v.force(W, i, target, v.scale(-1.0 / max(distance, CLOSE), v.rotate(B, gradient)))


@formula
def _angle(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    target = v.point(A, v.vector(given, 12))
    distance, u = _ray_to(B, target, given)
    f[0], _, _, _, gradient = split(u, v.vector(given, 0), v.vector(given, 3), v.vector(given, 6))
    _row(W, 0, B, target, distance, gradient if distance > TOUCHING else u)


@formula
def _vector(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    target = v.point(A, v.vector(given, 12))
    distance, u = _ray_to(B, target, given)
    f[0], one, f[1], two = as_vector(u, v.vector(given, 0), v.vector(given, 3),
                                     v.vector(given, 6))
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

    `origin` and `axis` are of `frame` (a camera), `target` is of `relative_to`. With u the ray's
    direction, n the axis at length 1 and t the part of u across n at length 1:

        angle   phi = atan2(|u - (u . n) n|, u . n)   in [0, pi] [rad]
        vector  phi t                                 [rad], along two axes of `frame` across n

    A cone of any half angle up to pi is an upper bound of the angle. Not differentiable at 0 and
    pi: there it turns in one fixed plane; the bounds "exactly 0" and "exactly pi" become the
    vector, which is smooth where the target is straight ahead. Where it is straight behind the
    vector is pi long in one fixed direction, and close to it the derivative across it stays below
    pi * 1e3 / distance.

    A target at the origin (within 1e-9 m) counts as exactly behind: only the cone of pi takes it,
    and the gradient draws the frame back along its axis, so that the target comes in front of it.
    The gradient grows as 1/distance; below 1e-3 m it stays as large as there.
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

    def numbers(self) -> Any:
        return self.axis, across(self.axis), self.origin, self.target
