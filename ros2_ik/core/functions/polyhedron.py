"""Linear combinations of the coordinates of several points: half-spaces of a polyhedron."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import Frame, Matrix, Points
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('polyhedron', drake='AddPolyhedronConstraint')
@dataclass(frozen=True, eq=False)
class Polyhedron(RelativeFunction):
    """
    Product of A (m, 3n) and the stacked positions of `points` (n, 3) of `frame`, (m,).

        f = A [p_1; ...; p_n]     [m], each p in `relative_to`

    An upper bound b keeps the points in the polyhedron A p <= b. Smooth everywhere. Raises
    InvalidConstraintError for sizes that do not match and for numbers that are not finite.
    """

    frame: Frame
    points: Points
    A: Matrix
    relative_to: Frame | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = 3 * len(self.points)
        if np.shape(self.A)[1] != columns:
            raise InvalidConstraintError(f'A must be rows of {columns} numbers, 3 for each of '
                                         f'{len(self.points)} points, not of '
                                         f'{np.shape(self.A)[1]}')

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'row {row} [m]' for row in range(len(self.A)))

    def numbers(self) -> Parameters:
        return len(self.A), len(self.points), self.points, self.A

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: m, n, points (3 n), A (3 m n)
        count, points = int(parameters[0]), int(parameters[1])
        for i in range(count):
            total, forces, moments = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            # the wrench of a row is the sum of its points' forces
            for j in range(points):
                part = v.vector(parameters, 2 + 3 * (points + i * points + j))
                p = v.point(B, v.vector(parameters, 2 + 3 * j))
                total += v.dot(part, v.to_local(A, p))
                along = v.rotate(A, part)
                forces, moments = v.add(forces, along), v.add(moments, v.cross(p, along))
            f[i] = total
            v.wrench(W, i, forces, moments)
