"""The angle between the orientation of a frame and a reference."""

import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.functions.frame_orientation import as_rotation, FrameOrientation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import pure_moment, RelativeFunction


@register_function('orientation_angle', drake='AddOrientationConstraint, AddOrientationCost',
                   matlab='constraintOrientationTarget')
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

    labels = ('angle [rad]',)
    range = (0.0, math.pi)

    def __init__(self, frame: str, reference: Pose = None, relative_to: str | None = None,
                 offset: Pose = None) -> None:
        super().__init__(frame, relative_to)
        self.reference = as_rotation(reference, 'reference')
        self.offset = as_rotation(offset, 'offset')

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        R_reference = T_relative.rotation @ self.reference
        rotation = pin.log3(R_reference.T @ T_frame.rotation @ self.offset)
        angle = math.sqrt(rotation @ rotation)
        # an axis is seen in a rotation by more than its rounding, a few 1e-16
        axis = rotation / angle if angle > 1e-15 else np.array([1.0, 0, 0])
        # rounding may lead beyond pi, where no angle is
        return np.array([min(angle, math.pi)]), pure_moment((R_reference @ axis)[None])

    def equality_form(self, lower: Array, upper: Array) -> FrameOrientation | None:
        if upper[0] > 0:
            return None
        return FrameOrientation(self.frame, self.reference, self.relative_to, self.offset)
