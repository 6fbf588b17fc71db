"""How the ray to a target is turned away from a camera's axis."""

import math

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.sight import Sight


@register_function('look_at', drake='AddGazeTargetConstraint (half angle 0)',
                   matlab='constraintAiming (tolerance 0)', pink='LookAtTask (mink)')
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

    def deviate(self, u: Array) -> tuple[Array, Array]:
        return self.deviation.vector(u)
