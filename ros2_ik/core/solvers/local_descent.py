"""A descent of SciPy's in the tangent space round its start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt
from ros2_ik.core.status import ExitFlag

MANY = 10**6         # of SciPy's iterations: LocalDescent counts them


class Stopped(Exception):
    """Ends a run of SciPy's from within."""

    def __init__(self, flag: ExitFlag) -> None:
        super().__init__(flag.name)
        self.flag = flag


@dataclass(frozen=True)
class Point:
    """All there is to know at x (n,): hard rows f with J (m, n), and the cost with its slope."""

    x: Array
    q: Array
    f: Array
    J: Array
    away: Array          # of the hard rows, see ProblemRows.outside
    error: float
    holds: bool
    cost: float
    gradient: Array

    def violation(self) -> tuple[float, Array]:
        """Half the squared violation of the hard rows, and its gradient."""
        return 0.5 * self.error, -(self.away @ self.J)


Objective = Callable[[Point], tuple[float, Array]]


class LocalDescent:
    """
    One descent in x (n,), the step of the active columns from the start.

    `low` and `high` are the limits of x; each part of a floating joint's rotation vector stays
    within pi, which covers every orientation and ends before a full turn, where x is singular.
    `best` is the best point looked at: one where the rows hold comes before all others, then the
    cheapest, else the least violated.
    """

    def __init__(self, rows: ProblemRows, start: Array, budget: Budget, limit: int,
                 solution_tolerance: float | None = None) -> None:
        self._rows, self._start, self._budget = rows, start, budget
        self._limit, self._solution_tolerance = min(limit, budget.iterations), solution_tolerance
        self._active = rows.problem.active
        self.low, self.high = self._bounds()
        self.iterations, self._until_held = 0, False
        self.now = self.best = self._point(np.zeros(len(self.low)))

    def _bounds(self) -> tuple[Array, Array]:
        active, problem = self._active, self._rows.problem
        low, high = ((bound - self._start)[active.column_places]
                     for bound in (problem.lower, problem.upper))
        for joint in active.others:
            if joint.kind == 'floating':    # no limits, and a rotation vector
                high[joint.columns] = [np.inf] * 3 + [np.pi] * 3
                low[joint.columns] = -high[joint.columns]
        # limits may exclude each other: SciPy must not be told that, and `conflict` tells it
        return low[active.column], np.maximum(low, high)[active.column]

    def at(self, x: Array) -> Point:
        """Return the point at x, which is computed once; raises Stopped if it is an end."""
        if not np.array_equal(x, self.now.x):
            self.now = self._point(x.copy())
            if self._is_better(self.now):
                self.best = self.now
        if self._until_held and self.now.holds:
            raise Stopped(ExitFlag.CONVERGED)
        return self.now

    def _is_better(self, point: Point) -> bool:
        best = self.best
        if point.holds != best.holds:
            return point.holds
        return point.cost < best.cost if point.holds else point.error < best.error

    def _point(self, x: Array) -> Point:
        rows, active, model = self._rows, self._active, self._rows.problem.robot.model
        v = np.zeros(model.nv)
        v[active.column] = x
        q = rows.problem.within_limits(pin.integrate(model, self._start, v))
        # how steps from there follow from x, (n, n)
        D = pin.dIntegrate(model, self._start, v, pin.ARG1)[active.columns][:, active.columns]
        f, J, (cost, gradient) = rows.evaluate(q)
        away = rows.outside(f)
        error = float(away @ away)
        holds = (bool((np.abs(away) <= rows.tolerance).all()) if self._solution_tolerance is None
                 else error < self._solution_tolerance**2)
        return Point(x, q, f, J @ D, away, error, holds, cost, gradient @ D)

    def minimize(self, method: str, objective: Objective, constraints: Sequence[Any] = (),
                 iterate: Callable[[Array], None] | None = None, until_held: bool = False,
                 **options: Any) -> ExitFlag:
        """
        Let SciPy minimize from the best point; return why that ended.

        With `until_held` it ends where all that must hold does; `iterate` looks at each iterate
        and may raise Stopped.
        """
        def count(x: Array) -> None:
            self._check()
            self.iterations += 1
            if iterate is not None:
                iterate(x)
        if until_held and self.best.holds:
            return ExitFlag.CONVERGED
        self._until_held = until_held
        try:
            self._check()
            if not len(self.low):
                return ExitFlag.CONVERGED if self.best.holds else ExitFlag.STEP_TOO_SMALL
            success = scipy.optimize.minimize(
                lambda x: objective(self.at(x)), self.best.x, jac=True, method=method,
                bounds=list(zip(self.low, self.high, strict=True)), constraints=constraints,
                callback=count, options=options).success
        except Stopped as stopped:
            return stopped.flag
        finally:
            self._until_held = False
        return ExitFlag.ERROR_CHANGE_TOO_SMALL if success else ExitFlag.STEP_TOO_SMALL

    def _check(self) -> None:
        """Raise Stopped when the budget is over."""
        if self.iterations >= self._limit:
            raise Stopped(ExitFlag.ITERATION_LIMIT)
        if flag := self._budget.interrupted():
            raise Stopped(flag)

    def ended(self, flag: ExitFlag) -> Attempt:
        """Return the best point as the end of the attempt."""
        best = self.best
        return Attempt(best.q, best.error, self.iterations, flag, best.cost, best.holds)
