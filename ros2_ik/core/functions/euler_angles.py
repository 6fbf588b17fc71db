"""Roll, pitch and yaw of a frame, seen from a reference."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Axes, Frame, Rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import chosen, RelativeFunction
from ros2_ik.core.kernels.source import formula, part

NAMES = {'x': 'roll', 'y': 'pitch', 'z': 'yaw'}
UPRIGHT = 4 * 2.0**-52    # cos(pitch) where MoveIt takes it for zero
STEEP = 1e-6              # cos(pitch) below which the Jacobian is bent to be finite


@register_function('euler_angles', moveit='OrientationConstraint (XYZ_EULER_ANGLES)')
@dataclass(frozen=True, eq=False)
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

    frame: Frame
    reference: Rotation = None
    relative_to: Frame | None = None
    offset: Rotation = None
    axes: Axes = 'xyz'
    range = (-math.pi, math.pi)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'{NAMES[axis]} [rad]' for axis in self.axes)

    def numbers(self) -> Any:
        return chosen(self.axes), self.reference, self.offset

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        C = v.product(A, v.rotation(given, 4))
        angles = _angles(v.product_back(C, v.product(B, v.rotation(given, 13))))
        rates = _rates(angles[0], angles[1])
        for i in range(int(given[0])):
            k = int(given[1 + i])
            f[i] = angles[k]
            v.moment(W, i, v.turn(C, v.row(rates, k)))


@part
def _angles(R: v.Rotation) -> v.Vector:
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
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


@part
def _rates(roll: float, pitch: float) -> v.Rotation:
    """Return the rates of the angles for turns about the reference's axes, nine numbers."""
    s, c, cosine = math.sin(roll), math.cos(roll), math.cos(pitch)
    bent = cosine / (cosine * cosine + STEEP * STEEP)    # 1 / cosine, but 0 at 0
    tangent = math.sin(pitch) * bent
    return 1.0, s * tangent, -c * tangent, 0.0, c, s, 0.0, -s * bent, c * bent
