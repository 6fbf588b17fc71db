"""Poses of a scene: read from numbers, kept from being changed in place."""

from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import floats, vector
from ros2_ik.core.errors import InvalidSceneError

FARTHEST = 1e6   # m; a double still resolves 1e-10 m there
SLACK = 1e-4     # what rounding of printed poses may leave of a rotation


def as_placement(pose: Pose, what: str) -> Any:
    """
    Take a pose, a (4, 4) array, a pinocchio.SE3 or None (identity), as a new pinocchio.SE3.

    Raises InvalidSceneError when it is not finite, further than 1e-4 from a rigid
    transformation or further away than 1e6 m.
    """
    if pose is None:
        return pin.SE3.Identity()
    wanted = 'a 4x4 array or a pinocchio.SE3'
    T = floats(pose.homogeneous if isinstance(pose, pin.SE3) else pose, what, wanted,
               InvalidSceneError)
    if T.shape != (4, 4):
        raise InvalidSceneError(f'{what} must be {wanted}, not of shape {T.shape}')
    if not np.isfinite(T).all():
        raise InvalidSceneError(f'{what} holds a number that is not finite')
    rotation = pin.Quaternion(T[:3, :3]).normalized().toRotationMatrix()
    off = np.abs(rotation - T[:3, :3]).max()
    if not off <= SLACK or T[3].tolist() != [0, 0, 0, 1]:
        mirrored = ' (left-handed: a mirror image)' if np.linalg.det(T[:3, :3]) < 0 else ''
        raise InvalidSceneError(f'{what} is no rigid transformation: its rotation is off by '
                                f'{off:.2g}{mirrored}, its last row is {T[3].tolist()}')
    if off < 1e-14:    # a pose read twice stays the same to the last bit
        rotation = T[:3, :3]
    return _near(pin.SE3(rotation, T[:3, 3]), what)


def placement(xyz: Any = (0, 0, 0), quat_xyzw: Any = None, rpy: Any = None,
              what: str = 'pose') -> Any:
    """
    Make a pinocchio.SE3 of a point [m] and a quaternion x y z w or roll pitch yaw [rad].

    The quaternion is normalised. Raises InvalidSceneError, also for a quaternion of norm zero
    and when both orientations are given.
    """
    point = vector(xyz, f'{what}.xyz', 3, InvalidSceneError)
    if quat_xyzw is not None and rpy is not None:
        raise InvalidSceneError(f'{what} has rpy and quat_xyzw; give one of them')
    if rpy is not None:
        rotation = pin.rpy.rpyToMatrix(*vector(rpy, f'{what}.rpy', 3, InvalidSceneError).tolist())
    elif quat_xyzw is not None:
        rotation = _rotation(quat_xyzw, f'{what}.quat_xyzw')
    else:
        rotation = np.eye(3)
    return _near(pin.SE3(rotation, np.array(point)), what)


def _rotation(quat_xyzw: Any, what: str) -> Any:
    quaternion = vector(quat_xyzw, what, 4, InvalidSceneError)
    largest = np.abs(quaternion).max()
    if largest < 1e-9:
        raise InvalidSceneError(f'{what} is {quaternion.tolist()}: a quaternion of norm zero '
                                'is no orientation')
    x, y, z, w = quaternion / largest    # squares of very large numbers overflow
    return pin.Quaternion(w, x, y, z).normalized().toRotationMatrix()


def _near(pose: Any, what: str) -> Any:
    if np.abs(pose.translation).max() > FARTHEST:
        raise InvalidSceneError(f'{what} is further away than {FARTHEST:g} m')
    return pose


class PoseField:
    """
    Field of a frozen dataclass that holds a pose.

    It takes what `as_placement` takes and gives a copy: a pinocchio.SE3 can be changed in place.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return None if instance is None else vars(instance)[self.name].copy()

    def __set__(self, instance: Any, pose: Pose) -> None:
        owner = getattr(instance, 'id', None)
        what = self.name if owner is None else f"{self.name} of object '{owner}'"
        vars(instance)[self.name] = as_placement(pose, what)
