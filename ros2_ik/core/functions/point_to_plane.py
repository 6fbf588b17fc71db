"""The signed distance between a point and a plane."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import direction, vector
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction, wrench_at


@register_function('point_to_plane')
class PointToPlane(RelativeFunction):
    """
    How far `point` of `frame` is above a plane fixed to `relative_to`, (1,).

    The plane goes through `plane_point`; n is the unit vector of `normal`:

        f = n . (p_point - p_plane)     [m], negative on the side that n points away from

    Smooth everywhere. Raises InvalidConstraintError for points that are not three finite
    numbers and a normal of length zero.
    """

    labels = ('height [m]',)

    def __init__(self, frame: str, point: Sequence[float] | Array,
                 plane_point: Sequence[float] | Array, normal: Sequence[float] | Array,
                 relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.point = vector(point, 'point', 3, InvalidConstraintError)
        self.plane_point = vector(plane_point, 'plane_point', 3, InvalidConstraintError)
        self.normal = direction(normal, 'normal', InvalidConstraintError)

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        p = T_frame.act(self.point)
        height = self.normal @ (T_relative.actInv(p) - self.plane_point)
        return np.array([height]), wrench_at((T_relative.rotation @ self.normal)[None], p)
