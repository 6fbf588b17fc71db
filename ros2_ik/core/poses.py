"""Validation of poses and quaternions that a caller passes."""

from collections.abc import Callable, Mapping, Sequence
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, FLOAT, Pose
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import IKError, InvalidTargetError
from ros2_ik.core.kernels.comparisons import is_rigid

# maximum magnitude of a position coordinate [m]; doubles of this size resolve 1e-10 m
MAX_DISTANCE = 1e6
# a rotation matrix is used unchanged if its rows are orthonormal within this error
_ROUNDING = 1e-14
# last row of a homogeneous transformation
_LAST = [0.0, 0.0, 0.0, 1.0]
# maximum |norm - 1| of a quaternion; a larger difference is treated as a mistake, not as rounding
QUATERNION_SLACK = 1e-2


def as_placement(pose: Pose, what: str, fault: type[IKError] = InvalidTargetError) -> pin.SE3:
    """Return a pose as a pinocchio.SE3, checked as in `as_transform`."""
    return pin.SE3(as_transform(pose, what, fault))


def as_transform(pose: Pose, what: str, fault: type[IKError] = InvalidTargetError) -> Array:
    """
    Return a copy of a pose as an array (4, 4), with its rotation made orthonormal.

    Raises `fault` unless the pose is (4, 4) with last row 0 0 0 1, its rotation part is within
    1e-4 of a rotation matrix (Frobenius norm), and its coordinates are within +-MAX_DISTANCE.
    """
    wanted = 'a 4x4 array or a pinocchio.SE3'
    # inlined fast path of `floats`: this code runs for each target of each problem
    T = (pose.copy() if type(pose) is np.ndarray and pose.dtype is FLOAT else floats(
        pose.homogeneous if isinstance(pose, pin.SE3) else pose, what, wanted, fault))
    if T.shape != (4, 4):
        raise fault(f'{what} must be {wanted}, not of shape {T.shape}')
    T = np.ascontiguousarray(T)
    if is_rigid.run(T, _ROUNDING, MAX_DISTANCE):
        return T
    R, p = T[:3, :3], T[:3, 3]
    rotation = pin.Quaternion(R).normalized().toRotationMatrix()
    off = (rotation - R).reshape(-1)
    # written as `not ...` to reject NaN as well
    if not (off @ off <= 1e-8 and T[3].tolist() == _LAST
            and all(abs(value) <= MAX_DISTANCE for value in p.tolist())):
        raise fault(f'{what} is not a rigid transformation: {_fault(T)}')
    T[:3, :3] = rotation
    return T


def as_transforms(poses: Mapping[str, Pose], what: str) -> Array:
    """Return named poses as an array (k, 4, 4); errors contain `what`, then the pose's name."""
    # one check for all poses: this code runs in each velocity step with moving objects
    try:
        stacked = np.array([pose.homogeneous if isinstance(pose, pin.SE3) else pose
                            for pose in poses.values()])
    except (TypeError, ValueError):     # such as poses of several shapes
        stacked = np.empty(0)
    if (stacked.shape == (len(poses), 4, 4) and stacked.dtype is FLOAT
            and is_rigid.run(stacked.reshape(-1, 4), _ROUNDING, MAX_DISTANCE)):
        return stacked
    return np.reshape([as_transform(pose, f"{what} '{name}'") for name, pose in poses.items()],
                      (-1, 4, 4))


def quaternion_pose(numbers: Sequence[float], what: str,
                    fault: Callable[[str], Exception]) -> pin.SE3:
    """Return the pose x y z qx qy qz qw; raise `fault` if the quaternion norm is not 1 +- 0.01."""
    x, y, z, qx, qy, qz, qw = numbers
    norm = math.hypot(qx, qy, qz, qw)
    if norm < 1e-9:
        raise fault(f'{what} is zero; the identity is x y z w = 0 0 0 1')
    if abs(norm - 1) > QUATERNION_SLACK:
        raise fault(f'{what} has norm {norm:.6g}; it must be 1')
    # three times as fast as SE3 with a rotation matrix and a position
    return pin.XYZQUATToSE3([x, y, z, qx / norm, qy / norm, qz / norm, qw / norm])


def _fault(T: Array) -> str:
    if not np.isfinite(T).all():
        return 'it contains a number that is not finite'
    if T[3].tolist() != _LAST:
        return f'its last row is {T[3].tolist()}, not [0, 0, 0, 1]'
    if np.abs(T[:3, 3]).max() > MAX_DISTANCE:
        return f'it is further away than {MAX_DISTANCE:g} m'
    R, determinant = T[:3, :3], np.linalg.det(T[:3, :3])
    mirrored = ' (left-handed: a mirror image)' if determinant < 0 else ''
    return (f'its rotation part is off by {np.abs(R @ R.T - np.eye(3)).max():.2g}, '
            f'its determinant {determinant:.3g}{mirrored}')
