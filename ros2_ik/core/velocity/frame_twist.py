"""Functions of velocity IK only: the twist of a frame, and the contact of a rolling wheel."""

from dataclasses import dataclass

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Flag, Frame, Length
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula


@dataclass(frozen=True, eq=False)
class FrameTwist(RelativeFunction):
    """
    Twist (6,) of a frame, as the rate of a function f that is always 0; only the Jacobian matters.

        f = 0,  df/dt = [linear; angular]     x y z [m], rx ry rz [rad]

    `linear` is the velocity of the frame's origin. The axes are those of `relative_to` (default:
    the root frame) or, with `own_axes`, those of the frame itself. A task of this function needs
    a velocity instead of a target.
    """

    frame: Frame
    relative_to: Frame | None = None
    own_axes: Flag = False
    labels = ('x [m]', 'y [m]', 'z [m]', 'rx [rad]', 'ry [rad]', 'rz [rad]')
    kind = 'frame_twist'

    def numbers(self) -> Parameters:
        return (float(self.own_axes),)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        p = v.origin(B)
        for i in range(3):
            axis = v.column(B, i) if parameters[0] > 0 else v.column(A, i)
            f[i] = 0.0
            f[3 + i] = 0.0
            v.force(W, i, p, axis)
            v.moment(W, 3 + i, axis)


@dataclass(frozen=True, eq=False)
class RollingContact(RelativeFunction):
    """
    Contact (3,) of a wheel with a floor: velocity of the contact point, and height of the wheel.

        f = (0, 0, z - radius),  df/dt = velocity of the contact point on the wheel    x y z [m]

    `frame` is the wheel's hub, and z its height above the floor, the plane z = 0 of `relative_to`.
    The rows are along the axes of `relative_to`. The rates of rows x and y are the slip velocity.
    Their values are 0, because slip velocity is not the derivative of a function of joint values.
    """

    frame: Frame
    relative_to: Frame | None
    radius: Length
    labels = ('x [m]', 'y [m]', 'z [m]')
    kind = 'rolling_contact'

    def numbers(self) -> Parameters:
        return (self.radius,)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        hub, normal = v.origin(B), v.column(A, 2)
        touching = v.sub(hub, v.scale(parameters[0], normal))
        f[0] = 0.0
        f[1] = 0.0
        f[2] = v.dot(normal, v.sub(hub, v.origin(A))) - parameters[0]
        for i in range(3):
            v.force(W, i, touching, v.column(A, i))
