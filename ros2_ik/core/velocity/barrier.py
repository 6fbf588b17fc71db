"""Bounds that a function must not cross while it moves."""

from copy import copy
from typing import Any

from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.problem import Constraint
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene import CollisionChecker
from ros2_ik.core.velocity.gain import Gain

PUSH = 0.25     # [units of f per s]


class Barrier:
    """
    lower <= f <= upper, to be kept while moving.

    A step goes at most the part `gain` of the way that is left to a bound (class K, linear), or
    `gain_per_second`, see `Task`. Where f is outside it comes back that way, but not faster than
    `push` [units of f per s]. The gradient is that of f: of a signed distance also the right one
    in penetration. Raises what `Constraint` raises for the bounds, and InvalidOptionError.
    """

    def __init__(self, function: KinematicFunction, lower: Any = -float('inf'),
                 upper: Any = float('inf'), *, gain: float = 0.8,
                 gain_per_second: float | None = None, push: float = PUSH,
                 name: str | None = None) -> None:
        self.bounds = Constraint(function, lower, upper, name)
        self.name = self.bounds.name
        self.gain = Gain.of(gain, gain_per_second, self.name)
        self.push = positive(push, f'push of {self.name}', InvalidOptionError)

    def bind(self, robot: Robot) -> 'Barrier':
        """Return this barrier of one robot, with bounds for each row."""
        bound = copy(self)
        bound.bounds = self.bounds.bind(robot)
        return bound

    def __repr__(self) -> str:
        return f"Barrier('{self.name}')"


class CollisionBarrier:
    """
    All pairs that a checker checks stay `margin` [m] apart.

    The pairs within reach of some steps are rows of their own, at most `rows`, the nearest ones.
    Gain and push are those of `Barrier`. `VelocityProgram.set_scene` takes the checker of another
    scene, with the velocities of what moves in it.
    """

    def __init__(self, checker: CollisionChecker, margin: float = 0.005, *, gain: float = 0.8,
                 gain_per_second: float | None = None, push: float = PUSH, rows: int = 40) -> None:
        if not isinstance(checker, CollisionChecker):
            raise InvalidConstraintError(f'checker must be a CollisionChecker, not {checker!r}')
        self.checker, self.name = checker, 'collisions'
        self.rows = whole(rows, 'rows', InvalidOptionError)
        self.margin = positive(margin, 'margin', InvalidOptionError)
        self.gain = Gain.of(gain, gain_per_second, self.name)
        self.push = positive(push, 'push', InvalidOptionError)
