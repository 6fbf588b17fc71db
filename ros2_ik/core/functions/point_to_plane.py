"""The signed distance between a point and a plane."""

from dataclasses import dataclass
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Axis, Frame, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('point_to_plane')
@dataclass(frozen=True, eq=False)
class PointToPlane(RelativeFunction):
    """
    Height of `point` of `frame` above a plane fixed to `relative_to`, (1,).

    The plane goes through `plane_point`; n is the unit vector of `normal`:

        f = n . (p_point - p_plane)     [m], negative on the side that n points away from

    Smooth everywhere. Raises InvalidConstraintError for points that are not three finite
    numbers and a normal of length zero.
    """

    frame: Frame
    point: Point
    plane_point: Point
    normal: Axis
    relative_to: Frame | None = None
    labels = ('height [m]',)

    def numbers(self) -> Any:
        return self.point, self.plane_point, self.normal

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        p, normal = v.point(B, v.vector(given, 0)), v.vector(given, 6)
        f[0] = v.dot(normal, v.sub(v.to_local(A, p), v.vector(given, 3)))
        v.force(W, 0, p, v.rotate(A, normal))
