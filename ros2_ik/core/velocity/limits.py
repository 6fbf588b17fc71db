"""Limits of joints (position, velocity, acceleration) and of frames (velocity)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import one_or_each, positive
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.kernels.velocity_rows import ACCELERATION, HIGH, LOW, SPEED
from ros2_ik.core.robot import Robot
from ros2_ik.core.velocity.frame_twist import FrameTwist
from ros2_ik.core.velocity.task import step_gain


class JointLimit(ABC):
    """Base class of limits of joints."""

    gain = 1.0      # largest fraction of the distance to a position limit that a step may cover

    @abstractmethod
    def enter(self, robot: Robot, box: Array) -> None:
        """Write the limit into `box` (COLUMN_NUMBERS, nv), see `velocity_rows`."""


@dataclass(frozen=True)
class ConfigurationLimit(JointLimit):
    """
    Position limits of the joints, from the URDF.

    A step covers at most the fraction `gain`, in (0, 1], of the distance to a limit. A joint
    outside its limits returns as fast as the other limits permit.
    """

    gain: float = 0.5

    def __post_init__(self) -> None:
        """Check the gain."""
        step_gain(self.gain, None, 'the configuration limit')

    def enter(self, robot: Robot, box: Array) -> None:
        for joint in robot.joints:
            box[LOW, joint.columns], box[HIGH, joint.columns] = joint.lower, joint.upper


@dataclass(frozen=True)
class VelocityLimit(JointLimit):
    """
    Velocity limits [rad/s, m/s], by default those of the URDF.

    `limit` is one number, an array for the columns of the tangent space (nv,), or a mapping from
    joint names; joints that are not named keep the URDF's limit. 0 locks a joint. A floating base
    has six numbers, along its own axes: linear [m/s], then angular [rad/s]. All limits are
    multiplied by `scale`.
    """

    limit: 'Mapping[str, float] | ArrayLike | None' = None
    scale: float = 1.0

    def enter(self, robot: Robot, box: Array) -> None:
        limits = _by_joint(robot, self.limit, robot.velocity_limits.copy(), 'velocity limit')
        box[SPEED] = np.minimum(box[SPEED], limits * positive(
            self.scale, 'scale of the velocity limit', InvalidOptionError))


@dataclass(frozen=True)
class AccelerationLimit(JointLimit):
    """
    Acceleration limits [rad/s^2, m/s^2]: one number, (nv,) or a mapping from joint names.

    Joints brake early enough to stop at their position limits, computed for discrete steps. After
    a jump of a target the joints follow as fast as the limits permit, without overshoot.
    """

    limit: 'Mapping[str, float] | ArrayLike'

    def enter(self, robot: Robot, box: Array) -> None:
        box[ACCELERATION] = np.minimum(box[ACCELERATION], _by_joint(
            robot, self.limit, np.full(robot.nv, np.inf), 'acceleration limit'))


@dataclass(frozen=True)
class CartesianVelocityLimit:
    """
    Limit of the linear [m/s] and angular [rad/s] velocity of a frame.

    `linear` and `angular` are one number or three, along the axes of `relative_to` (default: the
    root frame).
    """

    frame: str
    linear: 'ArrayLike' = np.inf
    angular: 'ArrayLike' = np.inf
    relative_to: str | None = None

    @property
    def function(self) -> FrameTwist:
        """The function whose rates are limited: the twist of the frame."""
        return FrameTwist(self.frame, self.relative_to)

    @property
    def most(self) -> Array:
        """The limits of the rows of `function`, (6,)."""
        return np.concatenate([_numbers(self.linear, 'linear velocity limit', 3),
                               _numbers(self.angular, 'angular velocity limit', 3)])


def _numbers(value: object, what: str, count: int) -> Array:
    """Return one number (repeated) or one for each row as (count,); raises InvalidOptionError."""
    array = one_or_each(value, what, count, InvalidOptionError)
    if (array < 0).any():
        raise InvalidOptionError(f'{what} must not be negative: {value!r}')
    return array


def _by_joint(robot: Robot, limit: object, default: Array, what: str) -> Array:
    """Return `limit` as (nv,); joints missing in a mapping (None: all) get `default`."""
    if limit is None:
        return default
    if not isinstance(limit, Mapping):
        return _numbers(limit, what, robot.nv)
    for name, value in limit.items():
        joint = robot.joint(name)
        default[joint.columns] = _numbers(value, f"{what} of '{name}'", joint.velocity_size)
    return default
