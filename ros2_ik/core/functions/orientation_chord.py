"""The chord of the turn from a reference to the orientation of a frame."""

from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.functions.frame_orientation import as_rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import pure_moment, RelativeFunction

FLAT = 1e-3   # least slope along the axis, which ends at zero half a turn away


@register_function('orientation_chord', drake='AddOrientationCost')
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

    labels = ('chord x', 'chord y', 'chord z')
    range = (-2.0, 2.0)

    def __init__(self, frame: str, reference: Pose = None, relative_to: str | None = None,
                 offset: Pose = None) -> None:
        super().__init__(frame, relative_to)
        self.reference = as_rotation(reference, 'reference')
        self.offset = as_rotation(offset, 'offset')

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        R = T_frame.rotation @ self.offset
        x, y, z, w = pin.Quaternion((T_relative.rotation @ self.reference).T @ R).coeffs()
        half = np.array([x, y, z]) if w >= 0 else np.array([-x, -y, -z])
        rates = max(abs(w), FLAT) * np.eye(3) + pin.skew(half)
        return 2 * half.clip(-1, 1), pure_moment(rates @ R.T)
