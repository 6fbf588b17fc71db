"""The distance between two links or objects."""

from dataclasses import dataclass

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.checked_distance import CheckedDistance
from ros2_ik.core.functions.fields import Body
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.robot import Configuration


@register_function('pair_distance', drake='AddDistanceConstraint',
                   pink='SelfCollisionBarrier (one pair)')
@dataclass(frozen=True, eq=False)
class PairDistance(CheckedDistance):
    """
    The signed distance between two links or objects of a checker's scene, (1,).

        f = d     [m]; in penetration, minus the length of the shortest separating translation

    If they have several collision geometries, the nearest pair counts, even if the scene allows
    their collision. Not differentiable where nearest points jump; the gradient there is that of
    one of them.

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

    def narrowed(self, checker: CollisionChecker) -> CollisionChecker:
        return checker.only(self.first, self.second)

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        found = self.checker.distances(at, np.inf, most=1)
        return found.distance, found.jacobian

    def __str__(self) -> str:
        return f"{self.kind} of '{self.first}' and '{self.second}'"
