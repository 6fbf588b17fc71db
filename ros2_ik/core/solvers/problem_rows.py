"""A problem as numbers: rows with bounds that must hold, and residuals that should be small."""

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.functions import FunctionStack, KinematicFunction
from ros2_ik.core.problem import IKProblem, LeastSquares, ScalarCost
from ros2_ik.core.robot import Configuration

SHARE = 0.5    # of the tolerances is aimed at


class ProblemRows:
    """
    All functions of a problem in one stack.

    Hard rows are those of the targets (zero wanted) and those of the constraints that ask for
    something, in the form solvers work on; the first `equal` of them have one value, the others
    a range. `lower` and `upper` (m,) are their bounds, `tolerance` (m,) what a solver aims at.
    `scale` (m,) are the weights of the targets' rows, which steer, and 1 for constraints.
    """

    def __init__(self, problem: IKProblem) -> None:
        self.problem = problem
        functions: list[KinematicFunction] = []
        lower, upper, tolerance, scale = [], [], [], []
        for target in problem.targets:
            functions.append(target.function)
            lower.append(np.where(target.counted, 0.0, -np.inf))
            upper.append(np.where(target.counted, 0.0, np.inf))
            for part, whole in ((slice(0, 3), target.position_tolerance),
                                (slice(3, 6), target.orientation_tolerance)):
                counted = max(1, int(target.counted[part].sum()))
                tolerance.append(np.full(3, whole / np.sqrt(counted)))
            scale.append(np.where(target.counted, target.weights, 1.0) / target.weights.max())
        for constraint in problem.constraints:
            function, low, high = constraint.form
            functions.append(function)
            lower.append(low)
            upper.append(high)
            tolerance.append(np.full(len(low), constraint.tolerance))
            scale.append(np.ones(len(low)))
        self._least_squares = [c for c in problem.costs if isinstance(c, LeastSquares)]
        self.scalar_costs = [c for c in problem.costs if isinstance(c, ScalarCost)]
        functions += [cost.function for cost in self._least_squares]
        self._stack = FunctionStack(problem.robot, functions, problem.free.column)
        self._cost_rows = self._stack.rows[len(functions) - len(self._least_squares):]
        low, high = _joined(lower), _joined(upper)
        asked = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        # rows with one value first, so that either sort is a slice
        asked = asked[np.argsort(low[asked] != high[asked], kind='stable')]
        self._hard: slice | Indices = asked
        if (asked == np.arange(len(low))).all() and len(asked) == len(low):
            self._hard = slice(0, len(low))
        self.scale = _joined(scale)[asked]
        self.lower, self.upper = low[asked] * self.scale, high[asked] * self.scale
        self.tolerance = SHARE * _joined(tolerance)[asked] * self.scale
        self.equal = int((self.lower == self.upper).sum())
        self._scaled = bool((self.scale != 1).any())

    def hard(self, q: Array) -> tuple[Array, Array]:
        """Give the hard rows f (m,) and J (m, n) at q."""
        f, J = self._stack.evaluate(q)
        return self._hard_part(f, J)

    def evaluate(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Give the hard rows f and J, and the costs' residuals r (k,) and their J (k, n)."""
        f, J = self._stack.evaluate(q)
        residuals, jacobians = [np.zeros(0)], [np.zeros((0, J.shape[1]))]
        for cost, rows in zip(self._least_squares, self._cost_rows, strict=True):
            r = cost.residual(f[rows])
            residuals.append(cost.factor @ r)
            # inside its bounds a cost asks for nothing
            active = (cost.lower == cost.upper) | (r != 0)
            jacobians.append((cost.factor * active) @ J[rows])
        return (*self._hard_part(f, J), np.concatenate(residuals), np.concatenate(jacobians))

    def _hard_part(self, f: Array, J: Array) -> tuple[Array, Array]:
        f, J = f[self._hard], J[self._hard]
        return (f * self.scale, J * self.scale[:, None]) if self._scaled else (f, J)

    def outside(self, f: Array) -> Array:
        """How far hard rows are from their bounds, with the sign of the way back, (m,)."""
        away: Array = np.minimum(np.maximum(f, self.lower), self.upper) - f
        return away

    def scalar(self, q: Array) -> tuple[float, Array]:
        """Give the value and the gradient (n,) of all scalar costs at q."""
        at = Configuration(self.problem.robot, q)
        value, gradient = 0.0, np.zeros(self.problem.robot.nv)
        for cost in self.scalar_costs:
            value += cost.value(at)
            gradient += cost.gradient(at)
        return value, gradient[self.problem.free.column]


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
