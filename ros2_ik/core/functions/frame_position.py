"""The position of a point of one frame, seen from another."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Axes, Frame, Placement, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import chosen, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('frame_position', drake='AddPositionConstraint',
                   matlab='constraintPositionTarget, constraintCartesianBounds',
                   moveit='PositionConstraint', pink='FrameTask (position), PositionBarrier')
@dataclass(frozen=True, eq=False)
class FramePosition(RelativeFunction):
    """
    Position of `point` of `frame` in a frame A, (3,) or one row for each of `axes`.

        f = R_A^T (p_Q - p_A)     x y z [m]

    A is `relative_to`, or a frame fixed to it at `T_relative_A` (Drake's Abar and X_AbarA).
    Smooth everywhere.
    """

    frame: Frame
    point: Point = (0, 0, 0)
    relative_to: Frame | None = None
    T_relative_A: Placement = None
    axes: Axes = 'xyz'

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'{axis} [m]' for axis in self.axes)

    def numbers(self) -> Any:
        T = pin.SE3.Identity() if self.T_relative_A is None else self.T_relative_A
        return chosen(self.axes), self.point, T.rotation, T.translation

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        p, C = v.point(B, v.vector(given, 4)), v.product(A, v.rotation(given, 7))
        away = v.sub(p, v.point(A, v.vector(given, 16)))
        for i in range(int(given[0])):
            axis = v.column(C, int(given[1 + i]))
            f[i] = v.dot(axis, away)
            v.force(W, i, p, axis)
