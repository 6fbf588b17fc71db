"""Poses of a scene, and the field that keeps them from being changed in place."""

from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import poses
from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidSceneError

FARTHEST = 1e6   # m; a double still resolves 1e-10 m there


def as_placement(pose: Pose, what: str) -> Any:
    """Take a pose, None for the identity, as a new pinocchio.SE3; raises InvalidSceneError."""
    return pin.SE3.Identity() if pose is None else poses.as_placement(
        pose, what, InvalidSceneError, FARTHEST)


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
    if np.abs(point).max() > FARTHEST:
        raise InvalidSceneError(f'{what} is further away than {FARTHEST:g} m')
    return pin.SE3(rotation, np.array(point))


def _rotation(quat_xyzw: Any, what: str) -> Any:
    quaternion = vector(quat_xyzw, what, 4, InvalidSceneError)
    largest = np.abs(quaternion).max()
    if largest < 1e-9:
        raise InvalidSceneError(f'{what} is {quaternion.tolist()}: a quaternion of norm zero '
                                'is no orientation')
    x, y, z, w = quaternion / largest    # squares of very large numbers overflow
    return pin.Quaternion(w, x, y, z).normalized().toRotationMatrix()


class PoseField:
    """
    Field of a frozen dataclass that holds a pose, as `as_placement` takes it.

    Reading it returns a copy: a pinocchio.SE3 can be changed in place.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return None if instance is None else vars(instance)[self.name].copy()

    def __set__(self, instance: Any, pose: Pose) -> None:
        owner = getattr(instance, 'id', None)
        what = self.name if owner is None else f"{self.name} of object '{owner}'"
        vars(instance)[self.name] = as_placement(pose, what)
