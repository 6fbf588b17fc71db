"""A problem as numbers: rows with bounds that must hold, and residuals that should be small."""

from collections.abc import Callable
from functools import cached_property
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import KinematicFunction
from ros2_ik.core.kernels.descents import FARTHEST
from ros2_ik.core.problem import IKProblem, LeastSquares, PoseTarget
from ros2_ik.core.problem.program import Program
from ros2_ik.core.shallow import shallow

SHARE = 0.5    # of the tolerances is aimed at

OfTarget: TypeAlias = Callable[[PoseTarget], KinematicFunction]


class ProblemRows:
    """
    All functions of a problem as programs: `hard` of what must hold, `program` of all.

    The functions of targets (zero wanted) and of constraints, in the form solvers work on,
    come first, then those of the costs. `rows` (k,) are the numbers of those of the first that
    have a finite bound, `bounds` (4, k) their lower and upper bounds, what to aim at, and
    their scale: the weights of the targets' rows, which steer, and 1 for constraints.
    `of_target` chooses the function of a target, by default its own.
    """

    def __init__(self, problem: IKProblem, of_target: OfTarget | None = None) -> None:
        self.problem = problem
        self._asked = asked = _wanted(problem, of_target or (lambda target: target.function))
        self.rows = (np.isfinite(asked.bounds[0]) | np.isfinite(asked.bounds[1])).nonzero()[0]
        self.bounds = asked.bounds if len(self.rows) == asked.bounds.shape[1] \
            else np.ascontiguousarray(asked.bounds[:, self.rows])
        self.lower, self.upper, self.tolerance, self.scale = self.bounds
        self.limits = problem.active.limits
        self.hard = self._program(asked.functions)

    def again(self, problem: IKProblem, functions: list[Any]) -> 'ProblemRows':
        """
        Return the rows of a problem that differs in poses of targets, start and limits.

        `functions` are the targets' own; those of the constraints are the same.
        """
        functions = [*functions, *self._asked.functions[len(functions):]]
        rows = shallow(self)
        rows._asked = self._asked._replace(functions=functions)
        rows.problem, rows.limits = problem, problem.active.limits
        rows.hard = self.hard.again(functions, problem.active, problem.start)
        rows.__dict__.pop('program', None)    # made of the old ones
        return rows

    def _program(self, functions: list[Any]) -> Program:
        return Program(self.problem.robot, functions, self.problem.active, self.problem.start)

    @cached_property
    def program(self) -> Program:
        """The program of all functions."""
        if not self.problem.costs:
            return self.hard
        return self._program([*self._asked.functions, *(
            cost.function if isinstance(cost, LeastSquares) else cost
            for cost in self.problem.costs)])

    @cached_property
    def costs(self) -> tuple[Array, Array, Array]:
        """Where rows should be (2, m), those that are costs (m,), the weights' roots (r, m)."""
        size = self.program.size
        wanted, linear = np.zeros((2, size)), np.zeros(size)
        factors = [np.zeros((0, size))]
        for cost, rows in self._cost_rows():
            if isinstance(cost, LeastSquares):
                wanted[0, rows], wanted[1, rows] = cost.lower, cost.upper
                factors.append(np.zeros((len(cost.factor), size)))
                factors[-1][:, rows] = cost.factor
            else:
                linear[rows] = 1.0
        return wanted, linear, np.concatenate(factors)

    def _cost_rows(self) -> Any:
        rows = self.program.rows[len(self._asked.functions):]
        return zip(self.problem.costs, rows, strict=True)

    def evaluate_hard(self, q: Array) -> tuple[Array, Array]:
        """Return the rows that must hold, scaled: f (k,) and J (k, n) at q."""
        return self._scaled(*self.hard.evaluate(q))

    def evaluate(self, q: Array) -> tuple[Array, Array, 'Costs']:
        """Return the rows that must hold, scaled, f (k,) and J (k, n), and the costs."""
        f, J = self.program.evaluate(q)
        wanted, linear, factor = self.costs
        away = f - np.minimum(np.maximum(f, wanted[0]), wanted[1])
        # inside its bounds a cost asks for nothing
        active = (wanted[0] == wanted[1]) | (away != 0)
        r, J_r = factor @ away, (factor * active) @ J
        counts = linear != 0
        return (*self._scaled(f, J), Costs(r, J_r, float(f[counts].sum()), J[counts].sum(axis=0)))

    def _scaled(self, f: Array, J: Array) -> tuple[Array, Array]:
        return f[self.rows] * self.scale, J[self.rows] * self.scale[:, None]

    def outside(self, f: Array) -> Array:
        """How far hard rows are from their bounds, with the sign of the way back, (k,)."""
        away: Array = np.minimum(np.maximum(f, self.lower), self.upper) - f
        return np.minimum(np.maximum(away, -FARTHEST), FARTHEST)   # squares would overflow


class Costs(NamedTuple):
    """
    The costs at a configuration: 1/2 |r|^2 + value.

    r (k,) are residuals with Jacobian J (k, n); `value` is the sum of scalar costs, `slope` (n,)
    its gradient.
    """

    r: Array
    J: Array
    value: float
    slope: Array

    @property
    def total(self) -> float:
        """The sum of all."""
        return 0.5 * float(self.r @ self.r) + self.value

    @property
    def gradient(self) -> Array:
        """The gradient of the sum, (n,)."""
        return self.r @ self.J + self.slope


class _HardRows(NamedTuple):
    """Functions whose rows must hold, with bounds, what to aim at, and scale of these (4, m)."""

    functions: list[KinematicFunction]
    bounds: Array


def _wanted(problem: IKProblem, of_target: OfTarget) -> _HardRows:
    functions: list[KinematicFunction] = []
    rows = []
    largest = 1.0
    if not all(target.whole for target in problem.targets):
        largest = max(float(target.weights.max()) for target in problem.targets)
    for target in problem.targets:
        functions.append(of_target(target))
        if target.whole:
            rows.append(_whole(target.position_tolerance, target.orientation_tolerance, largest))
            continue
        bound = np.where(target.counted, 0.0, np.inf)
        tolerances = [tolerance / math.sqrt(max(1, int(target.counted[part].sum())))
                      for part, tolerance in ((slice(0, 3), target.position_tolerance),
                                              (slice(3, 6), target.orientation_tolerance))]
        scale = np.where(target.counted, target.weights, 1.0) / largest
        rows.append(np.array([-bound, bound, SHARE * scale * np.repeat(tolerances, 3), scale]))
    for constraint in problem.constraints:
        function, lower, upper = constraint.form
        functions.append(function)
        rows.append(np.array([lower, upper, np.full(len(lower), SHARE * constraint.tolerance),
                              np.ones(len(lower))]))
    return _HardRows(functions, rows[0] if len(rows) == 1
                   else np.concatenate([np.zeros((4, 0)), *rows], axis=1))


def _whole(position: float, orientation: float, largest: float) -> Array:
    """Return the bounds of a target of which all counts alike."""
    bounds = np.zeros((4, 6))
    scale = 1.0 / largest
    bounds[2, :3], bounds[2, 3:] = (SHARE * scale * tolerance / math.sqrt(3)
                                    for tolerance in (position, orientation))
    bounds[3] = scale
    return bounds
