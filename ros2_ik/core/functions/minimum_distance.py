"""Smallest distances between a robot and its surroundings."""

from dataclasses import dataclass

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.checked_distance import CheckedDistance
from ros2_ik.core.functions.fields import Length, RowCount
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.robot import Configuration


@register_function('minimum_distance', drake='AddMinimumDistanceLowerBoundConstraint',
                   pink='SelfCollisionBarrier, CollisionAvoidanceLimit (mink)')
@dataclass(frozen=True, eq=False)
class MinimumDistance(CheckedDistance):
    """
    The `rows` smallest signed distances between what a checker checks, smallest first.

        f_i = min(d_i, influence)     [m], negative in penetration

    As a lower bound it keeps all pairs apart; one row for each of the nearest pairs, not one
    smoothed minimum, so that the step parts them all. With one row its upper bound asks for
    something to be near. Not differentiable where two distances change places or witnesses jump
    along parallel faces: there it is that of one of them. Rows at `influence` have no gradient.
    Without anything to check, all rows are at `influence`.
    """

    influence: Length = 0.2
    rows: RowCount = 12

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'distance {i + 1} [m]' for i in range(self.rows))

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        f, J = np.full(self.rows, self.influence), np.zeros((self.rows, at.robot.nv))
        found = self.checker.distances(at, self.influence, most=self.rows)
        count = len(found.distance)
        f[:count], J[:count] = found.distance, found.jacobian
        return f, J


class KnownMinimumDistance(MinimumDistance):
    """
    A MinimumDistance that makes no convex parts, which takes longer than a search may.

    It uses those that there are.
    """

    makes_parts = False
