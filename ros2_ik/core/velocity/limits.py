"""Limits of joints and frames while they move."""

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
from ros2_ik.core.velocity.gain import Gain


class JointLimit(ABC):
    """A limit of joints, whatever their tasks are."""

    gain = 1.0      # the part of the way to a position limit that a step may go

    @abstractmethod
    def enter(self, robot: Robot, box: Array) -> None:
        """Write this limit into `box`, an array of numbers per joint, see `velocity_rows`."""


@dataclass(frozen=True)
class ConfigurationLimit(JointLimit):
    """
    Joints stay within their position limits.

    A step goes at most the part `gain`, in (0, 1], of the way that is left; what is outside comes
    back as fast as the other limits let it.
    """

    gain: float = 0.5

    def __post_init__(self) -> None:
        """Check the gain."""
        Gain.of(self.gain, None, 'the configuration limit')

    def enter(self, robot: Robot, box: Array) -> None:
        for joint in robot.joints:
            box[LOW, joint.columns], box[HIGH, joint.columns] = joint.lower, joint.upper


@dataclass(frozen=True)
class VelocityLimit(JointLimit):
    """
    Largest velocities [rad/s, m/s], by default those of the URDF.

    `limit` is one number, one for each column of the tangent space (nv,), or a mapping from
    joints; joints that are not named keep the URDF's. 0 holds a joint. A floating base has six
    numbers, along its own axes: linear [m/s], then angular [rad/s]. `scale` is a part of all.
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
    Largest accelerations [rad/s^2, m/s^2], one number, (nv,) or a mapping from joints.

    Joints brake in time for their position limits, exactly in steps. A jump of a target that asks
    for more is followed as fast as this allows, and without running over it.
    """

    limit: 'Mapping[str, float] | ArrayLike'

    def enter(self, robot: Robot, box: Array) -> None:
        box[ACCELERATION] = np.minimum(box[ACCELERATION], _by_joint(
            robot, self.limit, np.full(robot.nv, np.inf), 'acceleration limit'))


@dataclass(frozen=True)
class CartesianVelocityLimit:
    """Largest linear [m/s] and angular [rad/s] velocity of a frame, along each root axis."""

    frame: str
    linear: 'ArrayLike' = np.inf
    angular: 'ArrayLike' = np.inf
    relative_to: str | None = None

    @property
    def function(self) -> FrameTwist:
        """Function whose rates are limited."""
        return FrameTwist(self.frame, self.relative_to)

    @property
    def most(self) -> Array:
        """The largest values of its rows, (6,)."""
        return np.concatenate([_numbers(self.linear, 'linear velocity limit', 3),
                               _numbers(self.angular, 'angular velocity limit', 3)])


def _numbers(value: object, what: str, count: int) -> Array:
    """Return one number for all, or one each, (count,); raises InvalidOptionError."""
    array = one_or_each(value, what, count, InvalidOptionError)
    if (array < 0).any():
        raise InvalidOptionError(f'{what} must be from 0 on, not {value!r}')
    return array


def _by_joint(robot: Robot, given: object, default: Array, what: str) -> Array:
    """Return `default`, replaced by the values given for all columns or for joints by name."""
    if given is None:
        return default
    if not isinstance(given, Mapping):
        return _numbers(given, what, robot.nv)
    for name, value in given.items():
        joint = robot.joint(name)
        default[joint.columns] = _numbers(value, f"{what} of '{name}'", joint.velocity_size)
    return default
