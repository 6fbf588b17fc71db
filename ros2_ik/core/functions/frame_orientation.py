"""The orientation of a frame, compared with a reference."""

import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import axis_rows, floats
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.frame_pose import as_placement
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import pure_moment, RelativeFunction


@register_function('frame_orientation', drake='AddOrientationConstraint (theta_bound 0)',
                   matlab='constraintOrientationTarget (tolerance 0)',
                   moveit='OrientationConstraint (ROTATION_VECTOR)',
                   pink='FrameTask (orientation)')
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

    range = (-math.pi, math.pi)

    def __init__(self, frame: str, reference: Pose = None, relative_to: str | None = None,
                 offset: Pose = None, axes: str = 'xyz') -> None:
        super().__init__(frame, relative_to)
        self.reference = as_rotation(reference, 'reference')
        self.offset = as_rotation(offset, 'offset')
        self.axes = axes
        self._rows = axis_rows(axes, InvalidConstraintError)
        self.labels = tuple(f'r{axis} [rad]' for axis in axes)

    def with_reference(self, reference: Pose) -> 'FrameOrientation':
        """Give the same function for another reference."""
        return FrameOrientation(self.frame, reference, self.relative_to, self.offset, self.axes)

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        R = T_frame.rotation @ self.offset
        error = (T_relative.rotation @ self.reference).T @ R
        moments = pin.Jlog3(error)[self._rows] @ R.T
        return pin.log3(error)[self._rows], pure_moment(moments)


def as_rotation(rotation: Pose, name: str) -> Array:
    """
    Take (3, 3), (4, 4), a pinocchio.SE3 or None (no rotation) as an exact rotation, read-only.

    Raises InvalidConstraintError when it is further than 1e-4 from a rotation.
    """
    wanted = 'a 3x3 or 4x4 array or a pinocchio.SE3'
    if rotation is None:
        rotation = np.eye(3)
    if not isinstance(rotation, pin.SE3):
        given = floats(rotation, name, wanted, InvalidConstraintError)
        if given.shape not in ((3, 3), (4, 4)):
            raise InvalidConstraintError(f'{name} must be {wanted}, not of shape {given.shape}')
        rotation = np.eye(4)
        rotation[:len(given), :len(given)] = given
    R = np.array(as_placement(rotation, name, InvalidConstraintError).rotation)
    R.setflags(write=False)
    return R
