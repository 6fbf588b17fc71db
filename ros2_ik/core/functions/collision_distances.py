"""Functions of the distances that a collision checker computes."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import instance
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import Body, FieldType, Length, RowCount
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Robot

Checker = Annotated[CollisionChecker, FieldType(
    'the collision checker of the scene', lambda given: None,
    lambda value, name: instance(value, CollisionChecker, name, InvalidConstraintError),
    supplied=True)]


@dataclass(frozen=True, eq=False)
class CheckedDistance(KinematicFunction):
    """
    A function of the distances that a collision checker computes.

    A mesh without convex parts counts as its convex hull (see `CollisionChecker.make_parts`).
    """

    periodic = True

    checker: Checker

    def __post_init__(self) -> None:
        super().__post_init__()
        self.set_field('checker', self.restrict_checker(self.checker))

    def restrict_checker(self, checker: CollisionChecker) -> CollisionChecker:
        """Return a checker of only the pairs that this function measures (default: all pairs)."""
        return checker

    def joints(self, robot: Robot) -> frozenset[str]:
        if robot.key != self.checker.robot.key:
            raise InvalidConstraintError(f'the checker of {self.kind} belongs to another robot')
        return self.checker.moving_joints


@register_function('minimum_distance')
@dataclass(frozen=True, eq=False)
class MinimumDistance(CheckedDistance):
    """
    The smallest signed distances of a checker's pairs, ascending; `rows` is their number.

        f_i = min(d_i, influence)     [m], negative in penetration

    A lower bound keeps all pairs apart. Instead of one smoothed minimum, each of the nearest pairs
    has a row of its own, so that one step separates all of them. With one row, an upper bound
    keeps at least one pair near. The rows are not differentiable where two distances are equal or
    nearest points jump along parallel faces; there, the Jacobian has one of the possible
    gradients. Rows at `influence` have gradient 0; without pairs all rows are at `influence`.
    """

    influence: Length = 0.2
    rows: RowCount = 12

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'distance {i + 1} [m]' for i in range(self.rows))

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        f, J = np.full(self.rows, self.influence), np.zeros((self.rows, at.robot.nv))
        found = self.checker.distances(at, self.influence, max_count=self.rows)
        count = len(found.distance)
        f[:count], J[:count] = found.distance, found.jacobian
        return f, J


@register_function('pair_distance')
@dataclass(frozen=True, eq=False)
class PairDistance(CheckedDistance):
    """
    The signed distance between two links or objects of a checker's scene, (1,).

        f = d     [m]; in penetration, minus the length of the shortest separating translation

    If the two have several collision geometries, the nearest pair counts. Collisions that the
    scene allows count, too. The distance is not differentiable where nearest points jump; there,
    the gradient is for one of these points.

    Raises UnknownNameError for names without geometry, and InvalidConstraintError if no joint
    moves one of the two relative to the other.
    """

    first: Body
    second: Body
    labels = ('distance [m]',)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.checker.pair_count:
            raise InvalidConstraintError(f"no joint moves '{self.first}' relative to "
                                         f"'{self.second}'")

    def restrict_checker(self, checker: CollisionChecker) -> CollisionChecker:
        return checker.for_pair(self.first, self.second)

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        found = self.checker.distances(at, np.inf, max_count=1)
        return found.distance, found.jacobian

    def __str__(self) -> str:
        return f"{self.kind} of '{self.first}' and '{self.second}'"
