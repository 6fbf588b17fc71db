"""A problem as numbers: rows with bounds that must hold, and residuals that should be small."""

from functools import cached_property
import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.functions import FunctionStack, KinematicFunction
from ros2_ik.core.problem import IKProblem, LeastSquares, ScalarCost
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers.compiled_rows import compiled_rows, CompiledRows

FARTHEST = 1e8  # a value further from its bounds counts as this far
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
        self._asked = asked = _wanted(problem)
        self._least_squares = [c for c in problem.costs if isinstance(c, LeastSquares)]
        self.scalar_costs = [c for c in problem.costs if isinstance(c, ScalarCost)]
        functions = [*asked.functions, *(cost.function for cost in self._least_squares)]
        self._stack = (compiled_rows(problem, functions)
                       or FunctionStack(problem.robot, functions, problem.free.column))
        self._cost_rows, end = [], len(asked.lower)
        for cost in self._least_squares:
            self._cost_rows.append(slice(end, end + len(cost.function.labels)))
            end += len(cost.function.labels)

    @cached_property
    def _kept(self) -> '_Kept':
        """Sort the hard rows; compiled loops take them as they are."""
        asked = self._asked
        kept = np.flatnonzero(np.isfinite(asked.lower) | np.isfinite(asked.upper))
        # rows with one value first, so that either sort is a slice
        kept = kept[np.argsort(asked.lower[kept] != asked.upper[kept], kind='stable')]
        place: slice | Indices = kept
        if len(kept) == len(asked.lower) and (kept == np.arange(len(kept))).all():
            place = slice(0, len(kept))
        lower, upper = asked.lower[place], asked.upper[place]
        return _Kept(place, lower, upper, asked.tolerance[place], asked.scale[place],
                     int((lower == upper).sum()), bool((asked.scale[place] != 1).any()))

    @property
    def lower(self) -> Array:
        """Lower bounds of the hard rows, (m,)."""
        return self._kept.lower

    @property
    def upper(self) -> Array:
        """Upper bounds of the hard rows, (m,)."""
        return self._kept.upper

    @property
    def tolerance(self) -> Array:
        """What to aim at, (m,)."""
        return self._kept.tolerance

    @property
    def scale(self) -> Array:
        """Weights of the targets' rows, 1 for the others, (m,)."""
        return self._kept.scale

    @property
    def equal(self) -> int:
        """How many of the hard rows, the first ones, have one value."""
        return self._kept.equal

    def compiled(self) -> tuple[Any, ...] | None:
        """Give the arguments of the compiled descent that tell the hard rows, or None."""
        stack = self._stack
        if self._least_squares:
            stack = compiled_rows(self.problem, self._asked.functions) or stack
        return self._compiled_hard(stack) if isinstance(stack, CompiledRows) else None

    def _compiled_hard(self, stack: CompiledRows) -> tuple[Any, ...]:
        asked, count = self._asked, len(self._asked.lower)
        # rows of the table that are no function's, or a cost's, ask for nothing
        lower, upper = np.full(stack.size, -np.inf), np.full(stack.size, np.inf)
        tolerance, scale = np.full(stack.size, np.inf), np.ones(stack.size)
        hard = stack.picked[:count]
        lower[hard], upper[hard] = asked.lower, asked.upper
        tolerance[hard], scale[hard] = asked.tolerance, asked.scale
        return (*stack.arrays, lower, upper, tolerance, scale)

    def compiled_costs(self) -> tuple[Any, ...] | None:
        """Give those of the compiled descent of the costs, or None where it has no form."""
        stack = self._stack
        if not isinstance(stack, CompiledRows) or self.scalar_costs:
            return None
        lower, upper = np.full(stack.size, -np.inf), np.full(stack.size, np.inf)
        factors = []
        for cost, rows in zip(self._least_squares, self._cost_rows, strict=True):
            places = stack.picked[rows]
            lower[places], upper[places] = cost.lower, cost.upper
            factor = np.zeros((len(cost.factor), stack.size))
            factor[:, places] = cost.factor
            factors.append(factor)
        return (*self._compiled_hard(stack), lower, upper, np.concatenate(factors))

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
        kept = self._kept
        f, J = f[kept.place], J[kept.place]
        return (f * kept.scale, J * kept.scale[:, None]) if kept.scaled else (f, J)

    def outside(self, f: Array) -> Array:
        """How far hard rows are from their bounds, with the sign of the way back, (m,)."""
        kept = self._kept
        away: Array = np.minimum(np.maximum(f, kept.lower), kept.upper) - f
        if away.size and not -FARTHEST < away.min() <= away.max() < FARTHEST:
            away = np.minimum(np.maximum(away, -FARTHEST), FARTHEST)   # squares would overflow
        return away

    def scalar(self, q: Array) -> tuple[float, Array]:
        """Give the value and the gradient (n,) of all scalar costs at q."""
        at = Configuration(self.problem.robot, q)
        value, gradient = 0.0, np.zeros(self.problem.robot.nv)
        for cost in self.scalar_costs:
            value += cost.value(at)
            gradient += cost.gradient(at)
        return value, gradient[self.problem.free.column]


class _Kept(NamedTuple):
    """The hard rows that ask for something, and where they are among all."""

    place: slice | Indices
    lower: Array
    upper: Array
    tolerance: Array
    scale: Array
    equal: int
    scaled: bool


class _Wanted(NamedTuple):
    """Functions whose rows must hold, and for each row bounds, what to aim at, and scale."""

    functions: list[KinematicFunction]
    lower: Array
    upper: Array
    tolerance: Array
    scale: Array


def _wanted(problem: IKProblem) -> _Wanted:
    functions: list[KinematicFunction] = []
    rows = []
    for target in problem.targets:
        functions.append(target.function)
        bound = np.where(target.counted, 0.0, np.inf)
        tolerances = [tolerance / math.sqrt(max(1, int(target.counted[part].sum())))
                      for part, tolerance in ((slice(0, 3), target.position_tolerance),
                                              (slice(3, 6), target.orientation_tolerance))]
        scale = np.where(target.counted, target.weights, 1.0) / target.weights.max()
        rows.append((-bound, bound, SHARE * scale * np.repeat(tolerances, 3), scale))
    for constraint in problem.constraints:
        function, lower, upper = constraint.form
        functions.append(function)
        rows.append((lower, upper, np.full(len(lower), SHARE * constraint.tolerance),
                     np.ones(len(lower))))
    if len(rows) == 1:
        return _Wanted(functions, *rows[0])
    return _Wanted(functions, *(_joined([row[i] for row in rows]) for i in range(4)))


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
