"""Limits of joints and frames, and barriers, which keep functions within bounds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import instance, positive, row_numbers
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.functions.collision_distances import CheckedDistance, MinimumDistance
from ros2_ik.core.kernels.velocity_rows import ACCELERATION, HIGH, LOW, SPEED
from ros2_ik.core.problem import Constraint
from ros2_ik.core.robot import Robot
from ros2_ik.core.velocity.distance_constraints import DistanceConstraints
from ros2_ik.core.velocity.frame_twist import FrameTwist
from ros2_ik.core.velocity.task import step_gain

DEFAULT_PUSH = 0.25     # largest speed back to a violated bound [units of f per s]


class JointLimit(ABC):
    """Base class of joint limits."""

    gain = 1.0      # largest fraction of the distance to a position limit that a step may cover

    @abstractmethod
    def enter(self, robot: Robot, joints: Array) -> None:
        """Write the limit into `joints` (COLUMN_NUMBERS, nv), see `velocity_rows`."""


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

    def enter(self, robot: Robot, joints: Array) -> None:
        for joint in robot.joints:
            joints[LOW, joint.columns], joints[HIGH, joint.columns] = joint.lower, joint.upper


@dataclass(frozen=True)
class VelocityLimit(JointLimit):
    """
    Velocity limits [rad/s, m/s], by default those of the URDF.

    `limit` is one number for all joints, an array (nv,), or a mapping from joint names to numbers;
    joints missing from the mapping keep the URDF's limit. 0 locks a joint. A floating base takes
    six numbers, along its own axes: linear [m/s], then angular [rad/s]. All limits are multiplied
    by `scale`.
    """

    limit: 'Mapping[str, float] | ArrayLike | None' = None
    scale: float = 1.0

    def enter(self, robot: Robot, joints: Array) -> None:
        limits = _by_joint(robot, self.limit, robot.velocity_limits.copy(), 'velocity limit')
        joints[SPEED] = np.minimum(joints[SPEED], limits * positive(
            self.scale, 'scale of the velocity limit', InvalidOptionError))


@dataclass(frozen=True)
class AccelerationLimit(JointLimit):
    """
    Acceleration limits [rad/s^2, m/s^2]: a number, an array (nv,) or a mapping from joint names.

    Joints brake early enough to stop at their position limits, in steps of dt. To stop at a
    target, tasks use 70 % of the acceleration limits, so that a jump of the target causes no
    overshoot. A limit of 0 keeps a joint's velocity constant; a velocity limit of 0 locks a joint.
    """

    limit: 'Mapping[str, float] | ArrayLike'

    def enter(self, robot: Robot, joints: Array) -> None:
        joints[ACCELERATION] = np.minimum(joints[ACCELERATION], _by_joint(
            robot, self.limit, np.full(robot.nv, np.inf), 'acceleration limit'))


@dataclass(frozen=True)
class CartesianVelocityLimit:
    """
    Limit of the linear [m/s] and angular [rad/s] velocity of a frame.

    `linear` and `angular` are one number for all axes of `relative_to` (default: the root frame),
    or three numbers, one per axis. They bound J v, with the Jacobian J at the start of a step.
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
        """The limits (6,) of the rates of `function`."""
        return np.concatenate([_numbers(self.linear, 'linear velocity limit', 3),
                               _numbers(self.angular, 'angular velocity limit', 3)])


def _numbers(value: object, what: str, count: int) -> Array:
    """Return `value` as an array (count,), repeating one number; raises InvalidOptionError."""
    array = np.full(count, row_numbers(value, what, InvalidOptionError, math.inf, count))
    if (array < 0).any():
        raise InvalidOptionError(f'{what} must not be negative: {value!r}')
    return array


def _by_joint(robot: Robot, limit: object, default: Array, what: str) -> Array:
    """Return `limit` as (nv,), with `default` for None and for joints missing from a mapping."""
    if limit is None:
        return default
    if not isinstance(limit, Mapping):
        return _numbers(limit, what, robot.nv)
    for name, value in limit.items():
        joint = robot.joint(name)
        default[joint.columns] = _numbers(value, f"{what} of '{name}'", joint.velocity_size)
    return default


class Barrier:
    """
    Control barrier for lower <= f <= upper during a motion.

    In a step, f approaches a bound by at most a fraction of the remaining distance (a linear class
    K function), set by `gain` (default 0.8) or `gain_per_second`, see `Task`. If f is outside its
    bounds, each step reduces the violation by this fraction, at a rate of at most `push` [units of
    f per s]. A barrier of distances (`PairDistance`, `MinimumDistance`) must have one lower bound
    and no upper bound. As in a `CollisionBarrier`, the bound holds for all points of both bodies.

    Raises InvalidOptionError, and InvalidConstraintError for invalid bounds or without any bound.
    """

    def __init__(self, function: KinematicFunction, lower: 'ArrayLike' = -float('inf'),
                 upper: 'ArrayLike' = float('inf'), *, gain: float | None = None,
                 gain_per_second: float | None = None, push: float = DEFAULT_PUSH,
                 name: str | None = None) -> None:
        self.bounds = Constraint(function, lower, upper, name)
        self.name = self.bounds.name
        if np.isinf([*np.ravel(self.bounds.lower), *np.ravel(self.bounds.upper)]).all():
            raise InvalidConstraintError(f"barrier '{self.name}' has no finite bound")
        self.gain = 0.8 if gain is None and gain_per_second is None else gain
        self.gain_per_second = gain_per_second
        self.gain_in_step(1.0)
        self.push = positive(push, f'push of {self.name}', InvalidOptionError)

    def bind(self, robot: Robot, dt: float) -> 'DistanceConstraints | Barrier':
        """Return the barrier bound to a robot; DistanceConstraints for a barrier of distances."""
        bound = copy(self)
        bound.bounds = bounds = self.bounds.bind(robot)
        function, margins = bounds.function, np.unique(bounds.lower)
        # The gradient of a distance is valid for the nearest points only: a row keeps these points
        # apart, but others may approach. DistanceConstraints therefore check the distance itself.
        if not isinstance(function, CheckedDistance):
            return bound
        if len(margins) > 1 or np.isinf(margins[0]) or np.isfinite(bounds.upper).any():
            raise InvalidConstraintError(
                f"barrier '{self.name}' of distances must have one lower bound, the same for all "
                f'rows, and no upper bound, not {bounds.lower} and {bounds.upper}')
        return DistanceConstraints(
            self.name, function.checker, float(margins[0]), self.gain_in_step(dt), self.push, dt,
            function.restrict_checker)

    def gain_in_step(self, dt: float) -> float:
        """Return the fraction of the distance to a bound that a step of `dt` [s] may cover."""
        return step_gain(self.gain, self.gain_per_second, self.name, dt)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"


class CollisionBarrier(Barrier):
    """
    Barrier that keeps all pairs of a collision checker at least `margin` [m] apart.

    Distances up to 10 % below the margin are accepted. The quadratic program has rows for pairs
    that a few steps could bring to the margin, but for no more than the 40 nearest. For a changed
    scene, call `VelocityProgram.set_scene`: it replaces the checker and sets the velocities of
    moving objects. `options` are those of `Barrier`.
    """

    def __init__(self, checker: CollisionChecker, margin: float = 0.005, *,
                 name: str = 'collisions', **options: Any) -> None:
        instance(checker, CollisionChecker, 'checker', InvalidConstraintError)
        super().__init__(MinimumDistance(checker),
                         positive(margin, 'margin', InvalidOptionError), name=name, **options)
