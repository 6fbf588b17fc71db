"""How far a robot is from what it could touch."""

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.checked_distance import CheckedDistance
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.robot import Configuration
from ros2_ik.core.scene import CollisionChecker


@register_function('minimum_distance', drake='AddMinimumDistanceLowerBoundConstraint',
                   pink='SelfCollisionBarrier, CollisionAvoidanceLimit (mink)')
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

    labels: tuple[str, ...] = ()

    def __init__(self, checker: CollisionChecker, influence: float = 0.2, rows: int = 12) -> None:
        super().__init__(checker)
        self.influence = positive(influence, 'influence', InvalidConstraintError)
        rows = whole(rows, 'rows', InvalidConstraintError)
        self.labels = tuple(f'distance {i + 1} [m]' for i in range(rows))

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        rows = len(self.labels)
        f, J = np.full(rows, self.influence), np.zeros((rows, at.robot.nv))
        found = self.checker.distances(at, self.influence, most=rows)
        count = len(found.distance)
        f[:count], J[:count] = found.distance, found.jacobian
        return f, J
