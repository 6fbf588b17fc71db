"""Conversion of Pose and Transform messages."""

from collections.abc import Iterable
from functools import partial
import math
from typing import TYPE_CHECKING

import pinocchio as pin

from ros2_ik.core import Status
from ros2_ik.core.internals import quaternion_pose
from ros2_ik.messages.request_error import RequestError

if TYPE_CHECKING:
    from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3


def placement(position: 'Point | Vector3', rotation: 'Quaternion', label: str,
              status: Status = Status.INVALID_GOAL_CONSTRAINTS) -> pin.SE3:
    """
    Convert a Point or Vector3 [m] and a Quaternion to a pose; `label` is its name in errors.

    Raises RequestError if a number is not finite, or if the quaternion's norm differs from 1 by
    more than 1e-2.
    """
    numbers = [position.x, position.y, position.z, rotation.x, rotation.y, rotation.z, rotation.w]
    if not math.isfinite(sum(numbers)):
        raise RequestError(status, f'{label} has a number that is not finite: {numbers}')
    return quaternion_pose(numbers, f'the quaternion of {label}', partial(RequestError, status))


def read_pose(pose: 'Pose', label: str) -> pin.SE3:
    """Convert a Pose message to a pinocchio.SE3; see `placement`."""
    return placement(pose.position, pose.orientation, label)


def fill_pose(message: 'Pose', pose: pin.SE3) -> 'Pose':
    """Write a pinocchio.SE3 into a Pose message, and return the message."""
    _fill(message.position, message.orientation, pin.SE3ToXYZQUAT(pose))
    return message


def fill_transform(transform: 'Transform', values: Iterable[float]) -> 'Transform':
    """Write x y z qx qy qz qw into a Transform message, and return the message."""
    _fill(transform.translation, transform.rotation, values)
    return transform


def _fill(position: 'Point | Vector3', rotation: 'Quaternion', values: Iterable[float]) -> None:
    (position.x, position.y, position.z,
     rotation.x, rotation.y, rotation.z, rotation.w) = (float(value) for value in values)
