"""The orientation of a frame, compared with a reference."""

from dataclasses import dataclass
from functools import cached_property
import math
from typing import Annotated, Any

from ros2_ik.core import algebra as v
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import Axes, choice, Frame, Rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import chosen, Form, FormedFunction
from ros2_ik.core.kernels.source import formula, part

FLAT = 1e-3               # least slope of the chord along the axis, which ends at zero
UPRIGHT = 4 * 2.0**-52    # cos(pitch) where MoveIt takes it for zero
STEEP = 1e-6              # cos(pitch) below which the Jacobian is bent to be finite


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


@formula
def _vector(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    R = v.product(B, v.rotation(given, 13))
    turned = v.log3(v.product_back(v.product(A, v.rotation(given, 4)), R))
    rates = v.jlog3(turned)
    for i in range(int(given[0])):
        k = int(given[1 + i])
        f[i] = turned[k]
        v.moment(W, i, v.rotate(R, v.row(rates, k)))


@formula
def _angle(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    C = v.product(A, v.rotation(given, 4))
    turned = v.log3(v.product_back(C, v.product(B, v.rotation(given, 13))))
    angle = v.norm(turned)
    # an axis is seen in a rotation by more than its rounding, a few 1e-16
    axis = v.scale(1.0 / angle, turned) if angle > 1e-15 else (1.0, 0.0, 0.0)
    f[0] = min(angle, math.pi)    # rounding may lead beyond pi, where no angle is
    v.moment(W, 0, v.rotate(C, axis))


@formula
def _chord(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    R = v.product(B, v.rotation(given, 13))
    turned = v.log3(v.product_back(v.product(A, v.rotation(given, 4)), R))
    angle = v.norm(turned)
    x, y, z = v.scale(math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5, turned)
    slope = max(math.cos(0.5 * angle), FLAT)
    rates = (slope, -z, y, z, slope, -x, -y, x, slope)
    for i in range(3):
        v.moment(W, i, v.rotate(R, v.row(rates, i)))
    f[0], f[1], f[2] = 2.0 * x, 2.0 * y, 2.0 * z


@formula
def _euler(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
    C = v.product(A, v.rotation(given, 4))
    angles = _angles(v.product_back(C, v.product(B, v.rotation(given, 13))))
    rates = _rates(angles[0], angles[1])
    for i in range(int(given[0])):
        k = int(given[1 + i])
        f[i] = angles[k]
        v.moment(W, i, v.rotate(C, v.row(rates, k)))


TURNS = -math.pi, math.pi
FORMS = {'vector': Form(_vector, TURNS, ('rx [rad]', 'ry [rad]', 'rz [rad]')),
         'angle': Form(_angle, (0.0, math.pi), ('angle [rad]',)),
         'chord': Form(_chord, (-2.0, 2.0), ('chord x', 'chord y', 'chord z')),
         'euler': Form(_euler, TURNS, ('roll [rad]', 'pitch [rad]', 'yaw [rad]'))}


@register_function('frame_orientation', drake='AddOrientationConstraint, AddOrientationCost',
                   matlab='constraintOrientationTarget',
                   moveit='OrientationConstraint',
                   pink='FrameTask (orientation)')
@dataclass(frozen=True, eq=False)
class FrameOrientation(FormedFunction):
    """
    The rotation from a reference to a frame, as a vector, an angle, a chord or Euler angles.

    With R = R_relative_frame and the reference R*, theta and n angle and axis of R*^T R offset:

        vector  theta n                 rx ry rz [rad] along the reference's axes
        angle   theta                   in [0, pi] [rad]
        chord   2 sin(theta / 2) n      so that 1/2 c |f|^2 = c (1 - cos(theta)), Drake's cost
        euler   roll pitch yaw [rad]    R*^T R offset = Rx(roll) Ry(pitch) Rz(yaw)

    `reference` and `offset` are (3, 3) rotations or poses, of which the rotation counts; `offset`
    turns the frame's own axes. Vector and Euler angles have a row for each of `axes`, the chord
    has three. MoveIt's tolerances are bounds of vector (ROTATION_VECTOR) or euler
    (XYZ_EULER_ANGLES); to have those of a vector along the axes of `relative_to`, give the
    reference's inverse as offset and no reference.

    All are zero exactly at the reference. Where theta is pi the vector and the chord jump to
    their opposite; the chord's slope along n, cos(theta / 2), is zero there, and the Jacobian
    keeps it at 1e-3, because a cost is greatest there. The gradient of the angle is the unit
    moment along the axis, at 0 the reference's x; the bound "exactly 0" becomes the vector. Euler
    angles are singular at pitch = +-pi/2, where, as in MoveIt, roll takes all of the turn and yaw
    is 0; their Jacobian is right until cos(pitch) = 1e-3 and bent to stay below 1e6 from there.
    Roll and yaw jump at +-pi.
    """

    frame: Frame
    reference: Rotation = None
    relative_to: Frame | None = None
    offset: Rotation = None
    axes: Axes = 'xyz'
    form: Annotated[str, choice(*FORMS)] = 'vector'
    forms = FORMS
    reference_field = 'reference'

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes != 'xyz' and self.form in ('angle', 'chord'):
            raise InvalidConstraintError(f"axes is '{self.axes}', but the {self.form} is that of "
                                         "all; valid: 'xyz'")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        labels = super().labels
        return labels if self.axes == 'xyz' else tuple(labels['xyz'.index(axis)]
                                                       for axis in self.axes)

    def numbers(self) -> Any:
        return chosen(self.axes), self.reference, self.offset
