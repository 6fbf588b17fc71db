"""Pose and orientation errors of a frame."""

from dataclasses import dataclass
from functools import cached_property
import math
from typing import Annotated

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import Axes, choice, Frame, Placement, Rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import (
    Form,
    FormedFunction,
    Parameters,
    RelativeFunction,
)
from ros2_ik.core.kernels.source import formula, part
from ros2_ik.core.poses import as_placement
from ros2_ik.core.robot.tree import se3_to_array


@register_function('frame_pose')
@dataclass(frozen=True, eq=False)
class FramePose(RelativeFunction):
    """
    Pose error of a frame relative to a reference, along the reference's axes, (6,).

    With T_relative_frame = (R, p) and the reference (R*, p*):

        f = [R*^T (p - p*);  log3(R*^T R)]     x y z [m], rx ry rz [rad]

    The position rows do not depend on the orientation of the frame, and the rotation rows do not
    depend on its position. f is zero only at the reference. f is not differentiable where the
    rotation angle is pi: there the rotation vector jumps to its opposite.
    """

    frame: Frame
    reference: Placement
    relative_to: Frame | None = None
    reference_field = 'reference'
    labels = ('x [m]', 'y [m]', 'z [m]', 'rx [rad]', 'ry [rad]', 'rz [rad]')

    def __post_init__(self) -> None:
        object.__setattr__(self, 'reference',
                           as_placement(self.reference, f"target of '{self.frame}'"))

    @cached_property
    def parameters(self) -> Array:
        return se3_to_array(self.reference)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # in the root frame: position p of the frame, orientation C of the reference
        p, C = v.origin(B), v.product(A, v.rotation(parameters, 0))
        away = v.sub(p, v.point(A, v.vector(parameters, 9)))
        turned = v.log3(v.relative_rotation(C, B))
        rates = v.jlog3(turned)
        for i in range(3):
            # wrenches: a force at p for the position row, a moment for the rotation row
            axis = v.column(C, i)
            f[i] = v.dot(axis, away)
            v.force(W, i, p, axis)
            f[3 + i] = turned[i]
            v.moment(W, 3 + i, v.rotate(B, v.row(rates, i)))


MIN_CHORD_SLOPE = 1e-3              # least d(chord length) / d(theta); the true slope at pi is 0
GIMBAL_LOCK_COSINE = 4 * 2.0**-52   # largest cos(pitch) that MoveIt treats as zero
COSINE_REGULARIZATION = 1e-6        # e in cos / (cos^2 + e^2), which replaces 1 / cos(pitch)
VECTOR, ANGLE, CHORD, EULER = range(4)    # numbers of the forms, in the order of FORMS


@part
def _angles(R: v.Matrix) -> v.Vector:
    """Return roll, pitch, yaw [rad] of R = Rx(roll) Ry(pitch) Rz(yaw)."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = R
    # cos(pitch), computed from both the first row and the last column
    cosine = math.sqrt((xx * xx + xy * xy + yz * yz + zz * zz) / 2)
    pitch = math.atan2(xz, cosine)
    # gimbal lock: rotation about the common axis of roll and yaw counts as roll, as in MoveIt
    if cosine <= GIMBAL_LOCK_COSINE:
        roll = math.atan2(yx + zy, yy - zx) if xz > 0 else math.atan2(zy - yx, yy + zx)
        return roll, pitch, 0.0
    roll = math.atan2(-yz, zz)
    # yaw of Rx(-roll) R: consistent with roll, which is inaccurate near gimbal lock
    c, s = math.cos(roll), math.sin(roll)
    return roll, pitch, math.atan2(c * yx + s * zx, c * yy + s * zy)


@part
def _rates(roll: float, pitch: float) -> v.Matrix:
    """Return the derivative of roll, pitch, yaw w.r.t. rotations about the reference's axes."""
    s, c, cosine = math.sin(roll), math.cos(roll), math.cos(pitch)
    # 1 / cosine, regularized: 0 where the cosine is 0
    inverse_cosine = cosine / (cosine * cosine + COSINE_REGULARIZATION * COSINE_REGULARIZATION)
    tangent = math.sin(pitch) * inverse_cosine
    # rows roll, pitch, yaw
    return 1.0, s * tangent, -c * tangent, 0.0, c, s, 0.0, -s * inverse_cosine, c * inverse_cosine


TURNS = -math.pi, math.pi
FORMS = {'vector': Form(TURNS, ('rx [rad]', 'ry [rad]', 'rz [rad]')),
         'angle': Form((0.0, math.pi), ('angle [rad]',)),
         'chord': Form((-2.0, 2.0), ('chord x', 'chord y', 'chord z')),
         'euler': Form(TURNS, ('roll [rad]', 'pitch [rad]', 'yaw [rad]'))}


@register_function('frame_orientation')
@dataclass(frozen=True, eq=False)
class FrameOrientation(FormedFunction):
    """
    The rotation from a reference to a frame, as a vector, an angle, a chord or Euler angles.

    R = R_relative_frame; R* is the reference; theta and n are angle and axis of R*^T R `offset`:

        vector  theta n                 rx ry rz [rad] along the reference's axes
        angle   theta                   in [0, pi] [rad]
        chord   2 sin(theta / 2) n      with weight c, the cost is c (1 - cos(theta)), as in Drake
        euler   roll pitch yaw [rad]    R*^T R offset = Rx(roll) Ry(pitch) Rz(yaw)

    `reference` and `offset` are rotations (3, 3), or poses of which only the rotation is used;
    `offset` is a fixed rotation of the frame about its own axes. The vector and the Euler angles
    have one row for each of `axes`, the chord has three rows, the angle one. MoveIt's orientation
    tolerances are bounds on the vector (ROTATION_VECTOR) or the Euler angles (XYZ_EULER_ANGLES).
    For theta n along the axes of `relative_to`, omit `reference` and pass R*^T as `offset`.

    With all `axes`, each form is zero only at the reference. At theta = pi, the vector and the
    chord jump to their opposite; the slope of the chord's length is zero there, but the Jacobian
    keeps a slope of 1e-3. The gradient of the angle is a unit moment along n; at theta = 0, where
    n is undefined, it is along the reference's x axis. If the angle must be exactly 0, solvers use
    the vector instead. Euler angles are singular at pitch = +-pi/2: there roll includes yaw, and
    yaw is 0, as in MoveIt. Their Jacobian is accurate down to cos(pitch) = 1e-3; closer to the
    singularity it is regularized to stay below 1e6. Roll and yaw jump at +-pi.
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
            raise InvalidConstraintError(f"axes is '{self.axes}', but the {self.form} has no rows "
                                         "by axis; valid: 'xyz'")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        labels = super().labels
        return labels if self.axes == 'xyz' else tuple(labels['xyz'.index(axis)]
                                                       for axis in self.axes)

    def numbers(self) -> Parameters:
        rows = ['xyz'.index(axis) for axis in self.axes]
        # pad the indices to three
        return len(rows), [*rows, 0, 0][:3], self.reference, self.offset, self.form_number

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: number of axes, their indices (3), reference (9), offset (9), form
        C, R = v.product(A, v.rotation(parameters, 4)), v.product(B, v.rotation(parameters, 13))
        relative, form = v.relative_rotation(C, R), parameters[22]
        # values by axis, and their rates w.r.t. rotations about the axes of R (the frame with its
        # offset); for Euler angles, about the axes of C (the reference)
        values = v.log3(relative)
        angle = v.norm(values)
        if form == VECTOR:
            rates = v.jlog3(values)
        elif form == CHORD:
            # (2x, 2y, 2z), twice the vector part of the unit quaternion; its derivative is
            # cos(angle / 2) I + skew(x, y, z)
            x, y, z = v.scale(math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5, values)
            slope = max(math.cos(0.5 * angle), MIN_CHORD_SLOPE)
            values, rates = (2 * x, 2 * y, 2 * z), (slope, -z, y, z, slope, -x, -y, x, slope)
        elif form == EULER:
            values, R = _angles(relative), C
            rates = _rates(values[0], values[1])
        else:
            # at smaller angles, rounding errors would determine the axis
            axis = v.scale(1.0 / angle, values) if angle > 1e-15 else (1.0, 0.0, 0.0)
            f[0] = min(angle, math.pi)    # rounding can exceed pi
            v.moment(W, 0, v.rotate(C, axis))
            return
        for i in range(int(parameters[0])):
            k = int(parameters[1 + i])
            f[i] = values[k]
            v.moment(W, i, v.rotate(R, v.row(rates, k)))
