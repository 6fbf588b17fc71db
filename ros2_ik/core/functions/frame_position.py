"""The position of a point of one frame, seen from another."""

from collections.abc import Sequence
from typing import Any

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import axis_rows, vector
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.frame_pose import as_placement
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction, wrench_at

AXES = 'xyz'


@register_function('frame_position', drake='AddPositionConstraint',
                   matlab='constraintPositionTarget, constraintCartesianBounds',
                   moveit='PositionConstraint', pink='FrameTask (position), PositionBarrier')
class FramePosition(RelativeFunction):
    """
    Where `point` of `frame` stands, in the axes of a frame A, (3,) or one row for each of `axes`.

        f = R_A^T (p_Q - p_A)     x y z [m]

    A is `relative_to`, or a frame fixed to it at `T_relative_A` (Drake's Abar and X_AbarA).
    Smooth everywhere.
    """

    def __init__(self, frame: str, point: Sequence[float] | Array = (0, 0, 0),
                 relative_to: str | None = None, T_relative_A: Pose | None = None,
                 axes: str = AXES) -> None:
        super().__init__(frame, relative_to)
        self.point = vector(point, 'point', 3, InvalidConstraintError)
        self.T_relative_A = None if T_relative_A is None else as_placement(
            T_relative_A, 'T_relative_A', InvalidConstraintError)
        self.axes = axes
        self._rows = axis_rows(axes, InvalidConstraintError)
        self.labels = tuple(f'{axis} [m]' for axis in axes)

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        A = T_relative if self.T_relative_A is None else T_relative * self.T_relative_A
        p = T_frame.act(self.point)
        forces = A.rotation.T[self._rows]
        return forces @ (p - A.translation), wrench_at(forces, p)
