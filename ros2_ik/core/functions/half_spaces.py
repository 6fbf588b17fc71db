"""Half spaces that several points of a frame share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import matrix
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction, wrench_at


@register_function('half_spaces', drake='AddPolyhedronConstraint')
class HalfSpaces(RelativeFunction):
    """
    Linear combinations of where `points` (n, 3) of `frame` are, one for each row of A (m, 3n).

        f = A [p_1; ...; p_n]     [m], each p in the axes of `relative_to`

    With an upper bound b: A p <= b, a polyhedron that holds the points. Smooth everywhere.
    Raises InvalidConstraintError for sizes that do not fit and numbers that are not finite.
    """

    def __init__(self, frame: str, points: Sequence[Sequence[float]] | Array,
                 A: Sequence[Sequence[float]] | Array, relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.points = matrix(points, 'points', 3, InvalidConstraintError)
        self.A = matrix(A, 'A', self.points.size, InvalidConstraintError)
        self.labels = tuple(f'row {row} [m]' for row in range(len(self.A)))
        # with p_j = R x_j + p: f = sum_j A_j . (R x_j + p), which is linear in R and in p
        parts = self.A.reshape(-1, *self.points.shape)
        self._forces = parts.sum(axis=1)
        self._turning = np.einsum('mja,jb->mab', parts, self.points)

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        T = T_relative.actInv(T_frame)
        f = self._forces @ T.translation + self._turning.reshape(-1, 9) @ T.rotation.reshape(-1)
        axes = T_relative.rotation.T
        W = wrench_at(self._forces @ axes, T_frame.translation)
        # the forces act at the points: to the moments add sum_j (R x_j) x A_j
        C = self._turning @ T.rotation.T
        lever = [C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]]
        W[:, 3:] += np.array(lever).T @ axes
        return f, W
