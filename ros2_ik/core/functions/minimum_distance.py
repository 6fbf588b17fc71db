"""Smallest distances of a robot's links from each other and from objects."""

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
    The `rows` smallest signed distances of the pairs of a checker, smallest first.

        f_i = min(d_i, influence)     [m], negative in penetration

    A lower bound keeps all pairs apart. Each of the nearest pairs has a row of its own, instead of
    one smoothed minimum, so that one step separates all of them. With one row an upper bound keeps
    some pair near. Not differentiable where two distances are equal or nearest points jump along
    parallel faces; the gradient there is that of one of them. Rows at `influence` have gradient 0;
    without pairs all rows are at `influence`.
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
    A MinimumDistance that never decomposes a mesh, as a search has no time for it.

    Meshes decomposed earlier use their convex parts; others are replaced by their hulls.
    """

    makes_parts = False
