"""The pose of a frame, compared with a reference pose."""

import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.functions.kinematic_function import KinematicFunction
from ros2_ik.core.robot import Configuration

FARTHEST = 1e9   # [m]; squares of much larger numbers overflow


class FramePose(KinematicFunction):
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
        self.frame, self.relative_to = frame, relative_to
        self.reference = as_placement(reference, f"target of '{frame}'")

    def with_reference(self, reference: Pose) -> 'FramePose':
        """Give the same function for another reference pose."""
        return FramePose(self.frame, reference, self.relative_to)

    def value(self, at: Configuration) -> Array:
        """Give f, (6,)."""
        error = self._error(at)
        return np.concatenate([error.translation, pin.log3(error.rotation)])

    def jacobian(self, at: Configuration) -> Array:
        """Give df/dq, (6, nv)."""
        error = self._error(at)
        J = at.jacobian(self.frame, self.relative_to)
        return np.vstack([error.rotation @ J[:3], pin.Jlog3(error.rotation) @ J[3:]])

    def _error(self, at: Configuration) -> Any:
        """Pose of the frame seen from the reference."""
        placement = at.placement(self.frame)
        if self.relative_to is not None:
            placement = at.placement(self.relative_to).actInv(placement)
        return self.reference.actInv(placement)


def as_placement(pose: Pose, what: str) -> Any:
    """
    Take a pose as a pinocchio.SE3 whose rotation is exactly a rotation.

    Raises InvalidTargetError when it is not (4, 4), not finite, or further than 1e-4 from a
    rigid transformation.
    """
    wanted = 'a 4x4 array or a pinocchio.SE3'
    T = floats(pose.homogeneous if isinstance(pose, pin.SE3) else pose, what, wanted,
               InvalidTargetError)
    if T.shape != (4, 4):
        raise InvalidTargetError(f'{what} must be {wanted}, not of shape {T.shape}')
    R = T[:3, :3]
    rotation = pin.Quaternion(R).normalized().toRotationMatrix()
    off = (rotation - R).reshape(-1)
    # written so that NaN fails, too
    if not (math.sqrt(off @ off) <= 1e-4 and T[3].tolist() == [0, 0, 0, 1]
            and np.abs(T[:3, 3]).max() <= FARTHEST):
        raise InvalidTargetError(f'{what} is no rigid transformation: {_fault(T)}')
    return pin.SE3(rotation, T[:3, 3])


def _fault(T: Array) -> str:
    if not np.isfinite(T).all():
        return 'it holds a number that is not finite'
    if T[3].tolist() != [0, 0, 0, 1]:
        return f'its last row is {T[3].tolist()}, not [0, 0, 0, 1]'
    if np.abs(T[:3, 3]).max() > FARTHEST:
        return f'it is further away than {FARTHEST:g} m'
    R = T[:3, :3]
    return (f'its rotation part is off by {np.abs(R @ R.T - np.eye(3)).max():.2g}, '
            f'its determinant {np.linalg.det(R):.3g}')
