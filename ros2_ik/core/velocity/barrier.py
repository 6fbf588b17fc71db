"""Barriers: bounds of functions that the robot's motion must not cross."""

from copy import copy
from typing import Any

import numpy as np

from ros2_ik.core.arrays import ArrayLike
from ros2_ik.core.checks import instance, positive
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.functions.collision_distances import CheckedDistance, KnownMinimumDistance
from ros2_ik.core.problem import Constraint
from ros2_ik.core.robot import Robot
from ros2_ik.core.velocity.distance_constraints import DistanceConstraints
from ros2_ik.core.velocity.task import step_gain

PUSH = 0.25         # default speed at which a violated bound is restored [units of f per s]
MAX_PAIRS = 40      # number of pairs of a collision barrier that become rows of a step


class Barrier:
    """
    Control barrier for lower <= f <= upper during a motion.

    A step moves f towards a bound by at most the fraction `gain` of the remaining distance (a
    linear class K function), or by the fraction for `gain_per_second`, see `Task`. If f is outside
    its bounds, f returns at the same rate, limited to `push` [units of f per s]. A lower bound of
    distances (`PairDistance`, `MinimumDistance`) must be one number for all rows; all points of
    the pairs then keep this distance, as in a `CollisionBarrier`.

    Raises the errors of `Constraint` for the bounds, and InvalidOptionError.
    """

    def __init__(self, function: KinematicFunction, lower: 'ArrayLike' = -float('inf'),
                 upper: 'ArrayLike' = float('inf'), *, gain: float = 0.8,
                 gain_per_second: float | None = None, push: float = PUSH,
                 name: str | None = None) -> None:
        self.bounds = Constraint(function, lower, upper, name)
        self.name = self.bounds.name
        self.gain, self.gain_per_second = gain, gain_per_second
        self.gain_in_step(1.0)
        self.push = positive(push, f'push of {self.name}', InvalidOptionError)

    def bind(self, robot: Robot, dt: float) -> 'list[DistanceConstraints | Barrier]':
        """Bind to a robot: return constraints on distances of pairs, and on rows of functions."""
        bound = copy(self)
        bound.bounds = bounds = copy(self.bounds.bind(robot))
        function, margins = bounds.function, np.unique(bounds.lower)
        # The gradient of a distance is that of the nearest points alone: while a row stops them,
        # other points of the pair may approach. DistanceConstraints handle lower bounds instead.
        if not isinstance(function, CheckedDistance) or np.isinf(bounds.lower).all():
            return [bound]
        if len(margins) > 1:
            raise InvalidConstraintError(f"barrier '{self.name}' has several lower bounds of "
                                         'distances; valid: one, or a Barrier for each bound')
        distances = DistanceConstraints(
            self.name, function.checker, float(margins[0]), MAX_PAIRS, self.gain_in_step(dt),
            self.push, dt, function.narrowed)
        # an upper bound of the distances remains with the function
        bounds.lower = np.full_like(bounds.lower, -np.inf)
        return [distances] if np.isinf(bounds.upper).all() else [distances, bound]

    def gain_in_step(self, dt: float) -> float:
        """Return the fraction of the distance to a bound that a step of `dt` [s] may cover."""
        return step_gain(self.gain, self.gain_per_second, self.name, dt)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"


class CollisionBarrier(Barrier):
    """
    Barrier that keeps all pairs of a collision checker `margin` [m] apart.

    Each pair that a few steps could bring into contact is one row of the quadratic program; at
    most 40, the nearest pairs. `VelocityProgram.set_scene` replaces the checker when the scene
    changes, and sets the velocities of moving objects. `options` are those of `Barrier`.
    """

    def __init__(self, checker: CollisionChecker, margin: float = 0.005, *,
                 name: str = 'collisions', **options: Any) -> None:
        instance(checker, CollisionChecker, 'checker', InvalidConstraintError)
        super().__init__(KnownMinimumDistance(checker),
                         positive(margin, 'margin', InvalidOptionError), name=name, **options)
