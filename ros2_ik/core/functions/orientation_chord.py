"""The chord of the turn from a reference to the orientation of a frame."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Frame, Rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import formula

FLAT = 1e-3   # least slope along the axis, which ends at zero half a turn away


@register_function('orientation_chord', drake='AddOrientationCost')
@dataclass(frozen=True, eq=False)
class OrientationChord(RelativeFunction):
    """
    The chord of the rotation from a reference to a frame, along the reference's axes, (3,).

    With R = R_relative_frame and the reference R* (arguments as in FrameOrientation), theta and n
    the angle and the axis of R*^T R offset:

        f = 2 sin(theta / 2) n     so that 1/2 c |f|^2 = c (1 - cos(theta))

    Smooth but at theta = pi, where it is 2 long and jumps to its opposite. Its slope along n,
    cos(theta / 2), is zero there; the Jacobian keeps it at 1e-3, because a cost is greatest
    there, and that is no place to stay.
    """

    frame: Frame
    reference: Rotation = None
    relative_to: Frame | None = None
    offset: Rotation = None
    labels = ('chord x', 'chord y', 'chord z')
    range = (-2.0, 2.0)

    def numbers(self) -> Any:
        return self.reference, self.offset

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        R = v.product(B, v.rotation(given, 9))
        turned = v.log3(v.product_back(v.product(A, v.rotation(given, 0)), R))
        angle = v.norm(turned)
        x, y, z = v.times(math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5, turned)
        slope = max(math.cos(0.5 * angle), FLAT)
        rates = (slope, -z, y, z, slope, -x, -y, x, slope)
        for i in range(3):
            v.moment(W, i, v.turn(R, v.row(rates, i)))
        f[0], f[1], f[2] = 2.0 * x, 2.0 * y, 2.0 * z
