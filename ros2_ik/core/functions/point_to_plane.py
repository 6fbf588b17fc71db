"""The signed distance of a point from a plane."""

from dataclasses import dataclass

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Axis, Frame, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('point_to_plane')
@dataclass(frozen=True, eq=False)
class PointToPlane(RelativeFunction):
    """
    Height of `point` of `frame` above a plane fixed to `relative_to`, (1,).

    The plane passes through `plane_point`; n is the unit vector along `normal`:

        f = n . (p_point - p_plane)     [m], positive on the side that n points to

    Smooth everywhere. Raises InvalidConstraintError for points that are not three finite
    numbers and for a normal of length zero.
    """

    frame: Frame
    point: Point
    plane_point: Point
    normal: Axis
    relative_to: Frame | None = None
    labels = ('height [m]',)

    def numbers(self) -> Parameters:
        return self.point, self.plane_point, self.normal

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: point, plane point, normal; the gradient is a unit force along the normal
        p, normal = v.point(B, v.vector(parameters, 0)), v.vector(parameters, 6)
        f[0] = v.dot(normal, v.sub(v.to_local(A, p), v.vector(parameters, 3)))
        v.force(W, 0, p, v.rotate(A, normal))
