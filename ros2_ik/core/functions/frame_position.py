"""Position of a point of one frame relative to another frame."""

from dataclasses import dataclass
from functools import cached_property

import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Axes, Frame, Placement, Point
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import chosen, Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('frame_position', drake='AddPositionConstraint',
                   matlab='constraintPositionTarget, constraintCartesianBounds',
                   moveit='PositionConstraint', pink='FrameTask (position), PositionBarrier')
@dataclass(frozen=True, eq=False)
class FramePosition(RelativeFunction):
    """
    Coordinates of `point` of `frame` in a frame A, one row for each of `axes`.

        f = R_A^T (p_point - p_A)     x y z [m]

    A is fixed to `relative_to` (default: the root frame) at the pose `T_relative_A` (default: the
    identity); in Drake the two are Abar and X_AbarA. Smooth everywhere.
    """

    frame: Frame
    point: Point = (0, 0, 0)
    relative_to: Frame | None = None
    T_relative_A: Placement = None
    axes: Axes = 'xyz'

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'{axis} [m]' for axis in self.axes)

    def numbers(self) -> Parameters:
        T = pin.SE3.Identity() if self.T_relative_A is None else self.T_relative_A
        return chosen(self.axes), self.point, T.rotation, T.translation

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: number of axes, their indices (3), point (3), rotation (9), position (3) of A
        p, C = v.point(B, v.vector(parameters, 4)), v.product(A, v.rotation(parameters, 7))
        away = v.sub(p, v.point(A, v.vector(parameters, 16)))
        for i in range(int(parameters[0])):
            axis = v.column(C, int(parameters[1 + i]))
            f[i] = v.dot(axis, away)
            v.force(W, i, p, axis)
