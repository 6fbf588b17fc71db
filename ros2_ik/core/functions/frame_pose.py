"""The pose of a frame, compared with a reference pose."""

import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import IKError, InvalidTargetError
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction, wrench_at
from ros2_ik.core.robot import Configuration

FARTHEST = 1e9   # [m]; squares of much larger numbers overflow


@register_function('frame_pose', drake='AddPositionConstraint + AddOrientationConstraint',
                   matlab='constraintPoseTarget, constraintFixedJoint',
                   moveit='PositionConstraint + OrientationConstraint',
                   pink='FrameTask, RelativeFrameTask')
class FramePose(RelativeFunction):
    """
    How far a frame is from a reference pose, along the reference's axes, (6,).

    With T = T_relative_frame and the reference T* = (R*, p*):

        f = [R*^T (p - p*);  log3(R*^T R)]     x y z [m], rx ry rz [rad]

    Position and orientation do not mix, so a row left out does not disturb the others, however
    large it is. f = 0 exactly at the reference. Not differentiable where the angle is pi: the
    rotation vector jumps there to its opposite; either one is a way home.
    """

    labels = ('x [m]', 'y [m]', 'z [m]', 'rx [rad]', 'ry [rad]', 'rz [rad]')

    def __init__(self, frame: str, reference: Pose, relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.reference = as_placement(reference, f"target of '{frame}'")

    def with_reference(self, reference: Pose) -> 'FramePose':
        """Give the same function for another reference pose."""
        return FramePose(self.frame, reference, self.relative_to)

    def value(self, at: Configuration) -> Array:
        T_frame, T_relative = self.placements(at)
        error = (T_relative * self.reference).actInv(T_frame)
        return np.concatenate([error.translation, pin.log3(error.rotation)])

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        target = T_relative * self.reference
        error = target.actInv(T_frame)
        axes = target.rotation.T
        W = np.zeros((6, 6))
        W[:3] = wrench_at(axes, T_frame.translation)
        W[3:, 3:] = pin.Jlog3(error.rotation) @ T_frame.rotation.T
        return np.concatenate([error.translation, pin.log3(error.rotation)]), W


def as_placement(pose: Pose, what: str, fault: type[IKError] = InvalidTargetError) -> Any:
    """
    Take a pose as a pinocchio.SE3 whose rotation is exactly a rotation.

    Raises `fault` when it is not (4, 4), not finite, or further than 1e-4 from a
    rigid transformation.
    """
    wanted = 'a 4x4 array or a pinocchio.SE3'
    T = floats(pose.homogeneous if isinstance(pose, pin.SE3) else pose, what, wanted, fault)
    if T.shape != (4, 4):
        raise fault(f'{what} must be {wanted}, not of shape {T.shape}')
    R = T[:3, :3]
    rotation = pin.Quaternion(R).normalized().toRotationMatrix()
    off = (rotation - R).reshape(-1)
    # written so that NaN fails, too
    if not (math.sqrt(off @ off) <= 1e-4 and T[3].tolist() == [0, 0, 0, 1]
            and all(abs(value) <= FARTHEST for value in T[:3, 3].tolist())):
        raise fault(f'{what} is no rigid transformation: {_fault(T)}')
    return pin.SE3(rotation, T[:3, 3])


def _fault(T: Array) -> str:
    if not np.isfinite(T).all():
        return 'it holds a number that is not finite'
    if T[3].tolist() != [0, 0, 0, 1]:
        return f'its last row is {T[3].tolist()}, not [0, 0, 0, 1]'
    if np.abs(T[:3, 3]).max() > FARTHEST:
        return f'it is further away than {FARTHEST:g} m'
    R, determinant = T[:3, :3], np.linalg.det(T[:3, :3])
    mirrored = ' (left-handed: a mirror image)' if determinant < 0 else ''
    return (f'its rotation part is off by {np.abs(R @ R.T - np.eye(3)).max():.2g}, '
            f'its determinant {determinant:.3g}{mirrored}')
