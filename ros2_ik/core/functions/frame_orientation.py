"""The orientation of a frame, compared with a reference."""

from dataclasses import dataclass
import math
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.fields import Axes, Frame, Rotation
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import chosen, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('frame_orientation', drake='AddOrientationConstraint (theta_bound 0)',
                   matlab='constraintOrientationTarget (tolerance 0)',
                   moveit='OrientationConstraint (ROTATION_VECTOR)',
                   pink='FrameTask (orientation)')
@dataclass(frozen=True, eq=False)
class FrameOrientation(RelativeFunction):
    """
    The rotation vector from a reference to a frame, along the reference's axes, (3,).

    With R = R_relative_frame and the reference R*, a row for each of `axes`:

        f = log3(R*^T R offset)     rx ry rz [rad]

    `reference` and `offset` are (3, 3) rotations or poses, of which the rotation counts; `offset`
    turns the frame's own axes. MoveIt's tolerances of a rotation vector are bounds of f; to have
    them along the axes of `relative_to`, give the reference's inverse as offset and no reference.
    f = 0 exactly at the reference. Not differentiable where the angle is pi: the rotation vector
    jumps there to its opposite; either one is a way home.
    """

    frame: Frame
    reference: Rotation = None
    relative_to: Frame | None = None
    offset: Rotation = None
    axes: Axes = 'xyz'
    range = (-math.pi, math.pi)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'r{axis} [rad]' for axis in self.axes)

    def numbers(self) -> Any:
        return chosen(self.axes), self.reference, self.offset

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        R = v.product(B, v.rotation(given, 13))
        turned = v.log3(v.product_back(v.product(A, v.rotation(given, 4)), R))
        rates = v.jlog3(turned)
        for i in range(int(given[0])):
            k = int(given[1 + i])
            f[i] = turned[k]
            v.moment(W, i, v.turn(R, v.row(rates, k)))
