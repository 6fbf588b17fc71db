"""Bounds that a function must not cross while it moves."""

from copy import copy
from typing import Any

import numpy as np

from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.functions.checked_distance import CheckedDistance
from ros2_ik.core.problem import Constraint
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene import CollisionChecker
from ros2_ik.core.velocity.care import Care
from ros2_ik.core.velocity.gain import Gain
from ros2_ik.core.velocity.gaps import Gaps

PUSH = 0.25     # [units of f per s]
SAFE_WITHIN = 0.1   # [units of f]
ROWS = 40       # pairs of a collision barrier that a step looks at


class Barrier:
    """
    lower <= f <= upper, to be kept while moving.

    A step goes at most the part `gain` of the way that is left to a bound (class K, linear), or
    `gain_per_second`, see `Task`. Where f is outside it comes back that way, but not faster than
    `push` [units of f per s]. The gradient is that of f: of a signed distance also the right one
    in penetration. A lower bound on distances (`PairDistance`, `MinimumDistance`) is kept as by a
    `CollisionBarrier`, at all points of the pairs.

    Steps that end less than `safe_within` [units of f] from a bound are held to the
    `safe_velocity` of the program, by default to rest, with `safe_displacement_gain`: see `Care`.

    Raises what `Constraint` raises for the bounds, and InvalidOptionError.
    """

    def __init__(self, function: KinematicFunction, lower: Any = -float('inf'),
                 upper: Any = float('inf'), *, gain: float = 0.8,
                 gain_per_second: float | None = None, push: float = PUSH,
                 safe_displacement_gain: float = 0.0, safe_within: float = SAFE_WITHIN,
                 name: str | None = None) -> None:
        self.bounds = Constraint(function, lower, upper, name)
        self.name = self.bounds.name
        self.gain = Gain.of(gain, gain_per_second, self.name)
        self.push = positive(push, f'push of {self.name}', InvalidOptionError)
        self.care = Care.of(safe_displacement_gain, safe_within, self.name)

    def bind(self, robot: Robot, dt: float) -> 'tuple[Gaps | None, Barrier | None]':
        """Return the gaps of this barrier of one robot, and what bounds rows of its function."""
        bound = copy(self)
        bound.bounds = bounds = copy(self.bounds.bind(robot))
        function, margins = bounds.function, np.unique(bounds.lower)
        # a distance knows one point of each pair: where that is held, another one may come down
        if not isinstance(function, CheckedDistance) or len(margins) > 1 or np.isinf(margins[0]):
            return None, bound
        gaps = Gaps(self.name, function.checker, float(margins[0]), ROWS, self.gain.in_step(dt),
                    self.push, self.care, dt, function.narrowed)
        if np.isinf(bounds.upper).all():
            return gaps, None
        bounds.lower = np.full_like(bounds.lower, -np.inf)
        return gaps, bound

    def __repr__(self) -> str:
        return f"Barrier('{self.name}')"


class CollisionBarrier:
    """
    All pairs that a checker checks stay `margin` [m] apart.

    The pairs within reach of some steps are rows of their own, at most `rows`, the nearest ones.
    Gain, push and what is safe are those of `Barrier`. `VelocityProgram.set_scene` takes the
    checker of another scene, with the velocities of what moves in it.
    """

    def __init__(self, checker: CollisionChecker, margin: float = 0.005, *, gain: float = 0.8,
                 gain_per_second: float | None = None, push: float = PUSH, rows: int = ROWS,
                 safe_displacement_gain: float = 0.0, safe_within: float = SAFE_WITHIN,
                 name: str = 'collisions') -> None:
        if not isinstance(checker, CollisionChecker):
            raise InvalidConstraintError(f'checker must be a CollisionChecker, not {checker!r}')
        self.checker, self.name = checker, name
        self.rows = whole(rows, 'rows', InvalidOptionError)
        self.margin = positive(margin, 'margin', InvalidOptionError)
        self.gain = Gain.of(gain, gain_per_second, self.name)
        self.push = positive(push, 'push', InvalidOptionError)
        self.care = Care.of(safe_displacement_gain, safe_within, self.name)

    def bind(self, robot: Robot, dt: float) -> tuple[Gaps, None]:
        """Return the gaps of this barrier of one robot."""
        if robot.key != self.checker.robot.key:
            raise InvalidConstraintError(f'the checker of {self.name} is of another robot')
        return Gaps(self.name, self.checker, self.margin, self.rows, self.gain.in_step(dt),
                    self.push, self.care, dt), None

    def __repr__(self) -> str:
        return f"CollisionBarrier('{self.name}')"
