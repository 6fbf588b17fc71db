"""Roll, pitch and yaw of a frame, seen from a reference."""

import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import axis_rows
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.frame_orientation import as_rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import pure_moment, RelativeFunction

NAMES = {'x': 'roll', 'y': 'pitch', 'z': 'yaw'}
UPRIGHT = 4 * np.finfo(float).eps   # cos(pitch) where MoveIt takes it for zero
STEEP = 1e-6                        # cos(pitch) below which the Jacobian is bent to be finite


@register_function('euler_angles', moveit='OrientationConstraint (XYZ_EULER_ANGLES)')
class EulerAngles(RelativeFunction):
    """
    Roll, pitch and yaw from a reference to a frame, (3,) or a row for each of `axes`.

    With R = R_relative_frame and the reference R* (arguments as in FrameOrientation), turning
    about the reference's x, then the new y, then the new z:

        R*^T R offset = Rx(roll) Ry(pitch) Rz(yaw)     [rad], pitch in [-pi/2, pi/2]

    Singular at pitch = +-pi/2, where only roll +- yaw is known: as in MoveIt, roll takes all of it
    and yaw is 0 (MoveIt then moves it to yaw if that breaks a tolerance). The Jacobian, which
    grows as 1/cos(pitch), is right until cos(pitch) = 1e-3 and bent to stay below 1e6 from there;
    at the singularity it is that of roll +- yaw, with no row for yaw. Roll and yaw jump at +-pi.
    """

    range = (-math.pi, math.pi)

    def __init__(self, frame: str, reference: Pose = None, relative_to: str | None = None,
                 offset: Pose = None, axes: str = 'xyz') -> None:
        super().__init__(frame, relative_to)
        self.reference = as_rotation(reference, 'reference')
        self.offset = as_rotation(offset, 'offset')
        self.axes = axes
        self._rows = axis_rows(axes, InvalidConstraintError)
        self.labels = tuple(f'{NAMES[axis]} [rad]' for axis in axes)

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        R_reference = T_relative.rotation @ self.reference
        angles = _angles((R_reference.T @ T_frame.rotation @ self.offset).tolist())
        rates = _rates(angles[0], angles[1])
        return (np.array(angles)[self._rows],
                pure_moment(rates[self._rows] @ R_reference.T))


def _angles(R: list[list[float]]) -> tuple[float, float, float]:
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
    # the mean of two ways to cos(pitch)
    cosine = math.sqrt((xx * xx + xy * xy + yz * yz + zz * zz) / 2)
    pitch = math.atan2(xz, cosine)
    if cosine <= UPRIGHT:
        roll = math.atan2(yx + zy, yy - zx) if xz > 0 else math.atan2(zy - yx, yy + zx)
        return roll, pitch, 0.0
    roll = math.atan2(-yz, zz)
    # yaw of what is left without roll: where both are mostly rounding, they still belong together
    c, s = math.cos(roll), math.sin(roll)
    return roll, pitch, math.atan2(c * yx + s * zx, c * yy + s * zy)


def _rates(roll: float, pitch: float) -> Array:
    """Rates of the angles for angular velocities along the reference's axes, (3, 3)."""
    s, c = math.sin(roll), math.cos(roll)
    cosine = math.cos(pitch)
    bent = cosine / (cosine * cosine + STEEP * STEEP)    # 1 / cosine, but 0 at 0
    tangent = math.sin(pitch) * bent
    return np.array([[1, s * tangent, -c * tangent],
                     [0, c, s],
                     [0, -s * bent, c * bent]])
