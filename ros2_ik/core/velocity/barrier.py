"""Bounds that a function must not cross while it moves."""

from copy import copy
from typing import Any

import numpy as np

from ros2_ik.core.arrays import ArrayLike
from ros2_ik.core.checks import instance, positive
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.functions.checked_distance import CheckedDistance
from ros2_ik.core.functions.minimum_distance import KnownMinimumDistance
from ros2_ik.core.problem import Constraint
from ros2_ik.core.robot import Robot
from ros2_ik.core.velocity.distance_constraints import DistanceConstraints
from ros2_ik.core.velocity.gain import Gain

PUSH = 0.25     # [units of f per s]
MAX_PAIRS = 40       # nearest pairs of a collision barrier that are rows of a step


class Barrier:
    """
    lower <= f <= upper, to be kept while moving.

    A step goes at most the part `gain` of the way that is left to a bound (class K, linear), or
    `gain_per_second`, see `Task`. Where f is outside, it returns at that rate, at most at `push`
    [units of f per s]. The gradient is that of f; for a signed distance it is right also in
    penetration. A lower bound on distances (`PairDistance`, `MinimumDistance`), one for all, is
    kept as by a `CollisionBarrier`, at all points of the pairs.

    Raises what `Constraint` raises for the bounds, and InvalidOptionError.
    """

    def __init__(self, function: KinematicFunction, lower: 'ArrayLike' = -float('inf'),
                 upper: 'ArrayLike' = float('inf'), *, gain: float = 0.8,
                 gain_per_second: float | None = None, push: float = PUSH,
                 name: str | None = None) -> None:
        self.bounds = Constraint(function, lower, upper, name)
        self.name = self.bounds.name
        self.gain = Gain.of(gain, gain_per_second, self.name)
        self.push = positive(push, f'push of {self.name}', InvalidOptionError)

    def bind(self, robot: Robot, dt: float) -> 'list[DistanceConstraints | Barrier]':
        """Return constraints for one robot: on distances of pairs, on rows of the function."""
        bound = copy(self)
        bound.bounds = bounds = copy(self.bounds.bind(robot))
        function, margins = bounds.function, np.unique(bounds.lower)
        # a distance has one point of each pair: where that is held, another one may come down
        if not isinstance(function, CheckedDistance) or np.isinf(bounds.lower).all():
            return [bound]
        if len(margins) > 1:
            raise InvalidConstraintError(f"barrier '{self.name}' has several lower bounds of "
                                         'distances; valid: one, or a Barrier for each')
        distances = DistanceConstraints(
            self.name, function.checker, float(margins[0]), MAX_PAIRS, self.gain.in_step(dt),
            self.push, dt, function.narrowed)
        bounds.lower = np.full_like(bounds.lower, -np.inf)
        return [distances] if np.isinf(bounds.upper).all() else [distances, bound]

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"


class CollisionBarrier(Barrier):
    """
    All pairs that a checker checks stay `margin` [m] apart; the options are those of `Barrier`.

    The pairs within reach of some steps are rows of their own, at most 40, the nearest ones.
    `VelocityProgram.set_scene` takes the checker of another scene, with the velocities of what
    moves in it.
    """

    def __init__(self, checker: CollisionChecker, margin: float = 0.005, *,
                 name: str = 'collisions', **options: Any) -> None:
        instance(checker, CollisionChecker, 'checker', InvalidConstraintError)
        super().__init__(KnownMinimumDistance(checker),
                         positive(margin, 'margin', InvalidOptionError), name=name, **options)
