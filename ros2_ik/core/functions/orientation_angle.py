"""The angle between the orientation of a frame and a reference."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.fields import Frame, Rotation
from ros2_ik.core.functions.frame_orientation import FrameOrientation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('orientation_angle', drake='AddOrientationConstraint, AddOrientationCost',
                   matlab='constraintOrientationTarget')
@dataclass(frozen=True, eq=False)
class OrientationAngle(RelativeFunction):
    """
    The angle of the rotation from a reference to a frame, in [0, pi], (1,).

    With R = R_relative_frame and the reference R* (arguments as in FrameOrientation):

        f = |log3(R*^T R offset)|     [rad]

    Its gradient is the unit moment along the axis. Not differentiable at 0, where the axis taken
    is the reference's x, nor at pi, where it is one of the two. The bound "exactly 0" becomes a
    FrameOrientation; "exactly pi" needs nothing: it is one condition, which a step along the
    axis meets.
    """

    frame: Frame
    reference: Rotation = None
    relative_to: Frame | None = None
    offset: Rotation = None
    labels = ('angle [rad]',)
    range = (0.0, math.pi)

    def numbers(self) -> Any:
        return self.reference, self.offset

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        C = v.product(A, v.rotation(given, 0))
        turned = v.log3(v.product_back(C, v.product(B, v.rotation(given, 9))))
        angle = v.norm(turned)
        # an axis is seen in a rotation by more than its rounding, a few 1e-16
        axis = v.times(1.0 / angle, turned) if angle > 1e-15 else (1.0, 0.0, 0.0)
        f[0] = min(angle, math.pi)    # rounding may lead beyond pi, where no angle is
        v.moment(W, 0, v.turn(C, axis))

    def equality_form(self, lower: Array, upper: Array) -> FrameOrientation | None:
        if upper[0] > 0:
            return None
        return FrameOrientation(self.frame, self.reference, self.relative_to, self.offset)
