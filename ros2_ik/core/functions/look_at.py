"""How the ray to a target is turned away from a camera's axis."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import as_vector
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.sight import ray_to, row_of, Sight, TOUCHING
from ros2_ik.core.kernels.source import formula


@register_function('look_at', drake='AddGazeTargetConstraint (half angle 0)',
                   matlab='constraintAiming (tolerance 0)', pink='LookAtTask (mink)')
@dataclass(frozen=True, eq=False)
class LookAt(Sight):
    """
    How the ray from `origin` to `target` is turned away from `axis` of `frame`, (2,).

    Arguments as in GazeAngle. With u the ray's direction and t its part across the axis at
    length 1:

        f = angle(u, axis) t     [rad], along two axes of `frame` at right angles to `axis`

    Zero only where the target is straight ahead, and smooth there. Not differentiable where it
    is straight behind: f is pi long there in one fixed direction, and close to it the derivative
    across f stays below pi * 1e3 / distance. A target at the origin counts as behind, see Sight.
    """

    labels = ('deviation 1 [rad]', 'deviation 2 [rad]')
    range = (-math.pi, math.pi)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        target = v.point(A, v.vector(given, 12))
        distance, u = ray_to(B, target, given)
        f[0], one, f[1], two = as_vector(u, v.vector(given, 0), v.vector(given, 3),
                                         v.vector(given, 6))
        if distance <= TOUCHING:
            one, two = v.times(f[0] / math.pi, u), v.times(f[1] / math.pi, u)
        row_of(W, 0, B, target, distance, one)
        row_of(W, 1, B, target, distance, two)
