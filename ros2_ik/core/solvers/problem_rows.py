"""A problem as stacked rows: hard rows (targets, constraints) with bounds, and cost rows."""

from collections.abc import Callable, Sequence
from functools import cached_property
import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.kernels.descents import MAX_VIOLATION
from ros2_ik.core.problem import IKProblem, LeastSquares, PoseTarget, ScalarCost
from ros2_ik.core.problem.program import Program

# descents aim at this fraction of a tolerance, which leaves a margin for the acceptance check
AIM_FRACTION = 0.5


class ProblemRows:
    """
    A problem's functions, stacked in compiled programs.

    `hard` has the error functions of the targets (zero at the target) and the `form` of each
    constraint; `program` also has the functions of the costs. `rows` (k,) are the indices of the
    hard rows with a finite bound. `bounds` (4, k) has their lower bounds, upper bounds, tolerances
    to aim at, and scales (constraints: 1; targets: the weight divided by the largest weight);
    `hard_rows` has `rows` and `bounds`. `of_target` returns the error function of a target, by
    default `target.function`.
    """

    def __init__(self, problem: IKProblem, of_target: Callable[
            [PoseTarget], KinematicFunction] = lambda target: target.function) -> None:
        self.problem, self.limits = problem, problem.active.limits
        targets = problem.targets
        hard = [*map(of_target, targets),
                *(constraint.form[0] for constraint in problem.constraints)]
        soft = [cost.function for cost in problem.costs]
        self.hard = self.program = Program(problem.robot, hard, problem.active, problem.start)
        if soft:
            self.program = Program(problem.robot, [*hard, *soft], problem.active, problem.start)
        bounds = self._bounds(targets)
        # lists are faster than NumPy for a few rows
        self.rows = np.array([row for row, (lower, upper) in enumerate(zip(
            *bounds[:2].tolist(), strict=True)) if lower > -math.inf or upper < math.inf],
            dtype=np.int64)
        self.bounds = bounds if len(self.rows) == bounds.shape[1] \
            else np.ascontiguousarray(bounds[:, self.rows])
        self.hard_rows = self.rows, self.bounds
        self.lower, self.upper, self.tolerance, self.scale = self.bounds
        # compute now, before the clock of a search starts
        _ = soft and self.costs

    def _bounds(self, targets: Sequence[PoseTarget]) -> Array:
        """Return lower bound, upper bound, tolerance and scale of all hard rows, (4, m)."""
        problem, row_slices, bounds = self.problem, self.hard.rows, np.empty((4, self.hard.size))
        # the bounds of targets depend only on the structure, which many problems share
        cache = problem.structure.solvers
        if 'target bounds' not in cache:
            cache['target bounds'] = _target_bounds(targets)
        bounds[:, :6 * len(targets)] = cache['target bounds']
        for constraint, rows in zip(problem.constraints, row_slices[len(targets):], strict=True):
            bounds[0, rows], bounds[1, rows] = constraint.form[1:]
            bounds[2, rows], bounds[3, rows] = AIM_FRACTION * constraint.tolerance, 1.0
        return bounds

    @cached_property
    def costs(self) -> tuple[Array, Array, Array]:
        """
        The arrays that define the costs of all m rows.

        They are the bounds (2, m) of least-squares rows, the weights (m,) of scalar costs, and the
        stacked square roots (r, m) of the least-squares weight matrices.
        """
        size, row_slices = self.program.size, self.program.rows[len(self.hard.rows):]
        bounds, linear, first = np.zeros((2, size)), np.zeros(size), 0
        squares = [cost for cost in self.problem.costs if isinstance(cost, LeastSquares)]
        factor = np.zeros((sum(len(cost.factor) for cost in squares), size))
        for cost, rows in zip(self.problem.costs, row_slices, strict=True):
            if isinstance(cost, LeastSquares):
                bounds[0, rows], bounds[1, rows] = cost.lower, cost.upper
                last = first + len(cost.factor)
                factor[first:last, rows] = cost.factor
                first = last
            elif isinstance(cost, ScalarCost):
                linear[rows] = cost.weight
        return bounds, linear, factor

    def evaluate(self, q: Array) -> tuple[Array, Array, tuple[float, Array]]:
        """Return the scaled hard rows f (k,) and J (k, n), and the cost with its gradient (n,)."""
        f, J = self.program.evaluate(q)
        bounds, linear, factor = self.costs
        # residuals of the rows; inside the bounds, residual and gradient are zero
        residual = f - np.minimum(np.maximum(f, bounds[0]), bounds[1])
        r, counts = factor @ residual, (bounds[0] == bounds[1]) | (residual != 0)
        cost = 0.5 * float(r @ r) + float(linear @ f)
        return (f[self.rows] * self.scale, J[self.rows] * self.scale[:, None],
                (cost, (r @ factor * counts + linear) @ J))

    def bound_residuals(self, f: Array) -> Array:
        """Return the changes (k,) that bring hard rows f (k,) within their bounds."""
        residual: Array = np.minimum(np.maximum(f, self.lower), self.upper) - f
        # clamp, because squares of very large numbers overflow
        return np.minimum(np.maximum(residual, -MAX_VIOLATION), MAX_VIOLATION)


def _target_bounds(targets: Sequence[PoseTarget]) -> Array:
    """Return the bounds (4, 6 t) of the rows of t targets; see `ProblemRows`."""
    bounds = np.zeros((4, 6 * len(targets)))
    largest = max([float(target.weights.max()) for target in targets], default=1.0)
    for k, target in enumerate(targets):
        counted, part = target.counted, bounds[:, 6 * k:6 * k + 6]
        # rows with a weight above 0 are equalities; rows of free axes have no bounds
        part[1] = np.where(counted, 0.0, np.inf)
        part[0] = -part[1]
        part[3] = np.where(counted, target.weights, 1.0) / largest
        # the tolerance bounds the norm of `count` rows: each gets an equal share, times its scale
        for rows, tolerance in ((slice(0, 3), target.position_tolerance),
                                (slice(3, 6), target.orientation_tolerance)):
            count = max(1, int(counted[rows].sum()))
            part[2, rows] = AIM_FRACTION * tolerance / math.sqrt(count) * part[3, rows]
    return bounds
