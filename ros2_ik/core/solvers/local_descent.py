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


Objective = Callable[[Point], tuple[float, Array]]


class LocalDescent:
    """
    One descent in x (n,), the step of the active columns from the start.

    `low` and `high` are the limits of x; each part of a floating joint's rotation vector stays
    within pi, which covers every orientation and ends before a full turn, where x is singular.
    `best` is the best point looked at: one where the rows hold comes before all others, then the
    cheapest, else the least violated. Costs count after `begin_costs`, in a unit that makes the
    first steps about as long as Newton's, at most about one [rad, m].
    """

    def __init__(self, rows: ProblemRows, start: Array, budget: Budget, limit: int,
                 solution_tolerance: float | None = None) -> None:
        self._rows, self._start, self._budget = rows, start, budget
        self._limit, self._solution_tolerance = min(limit, budget.iterations), solution_tolerance
        self._active = rows.problem.active
        self.low, self.high = self._bounds()
        self.iterations, self._until_held = 0, False
        self._with_costs, self._scale = False, 1.0
        self.now = self.best = self._point(np.zeros(len(self.low)))

    def _bounds(self) -> tuple[Array, Array]:
        active, turn = self._active, np.full(self._rows.problem.robot.nv, np.inf)
        for joint in active.others:
            if joint.kind == 'floating':
                turn[joint.velocity_index + 3:joint.velocity_index + 6] = np.pi
        position, turn = self._start[active.column_places][active.column], turn[active.column]
        low = np.maximum(active.lower - position, -turn)
        # limits may exclude each other: SciPy must not be told that, and `conflict` tells it
        return low, np.maximum(low, np.minimum(active.upper - position, turn))

    def at(self, x: Array) -> Point:
        """Return the point at x, which is computed once; raises Stopped if it is an end."""
        if not np.array_equal(x, self.now.x):
            self.now = self._point(x.copy())
            if self._better(self.now):
                self.best = self.now
        if self._until_held and self.now.holds:
            raise Stopped(ExitFlag.CONVERGED)
        return self.now

    def _better(self, point: Point) -> bool:
        best = self.best
        if point.holds != best.holds:
            return point.holds
        return point.cost < best.cost if point.holds else point.error < best.error

    def _point(self, x: Array) -> Point:
        rows = self._rows
        q, D = self._moved(x)
        cost, gradient = 0.0, np.zeros(len(x))
        if self._with_costs:
            f, J, costs = rows.evaluate(q)
            cost, gradient = costs.total, costs.gradient
        else:
            f, J = rows.evaluate_hard(q)
        J, gradient = J @ D, gradient @ D
        away = rows.outside(f)
        error = float(away @ away)
        return Point(x, q, f, J, away, error, self._holds(away, error), cost / self._scale,
                     gradient / self._scale)

    def _holds(self, away: Array, error: float) -> bool:
        if self._solution_tolerance is not None:
            return error < self._solution_tolerance**2
        return bool((np.abs(away) <= self._rows.tolerance).all())

    def _moved(self, x: Array) -> tuple[Array, Array]:
        """Return the start moved by x, and how steps from there follow from x, (n, n)."""
        problem, active = self._rows.problem, self._active
        model, v = problem.robot.model, np.zeros(problem.robot.nv)
        v[active.column] = x
        q = pin.integrate(model, self._start, v)
        D = pin.dIntegrate(model, self._start, v, pin.ARG1)[active.columns][:, active.columns]
        return problem.locked(np.minimum(np.maximum(q, problem.lower), problem.upper)), D

    def check(self) -> None:
        """Raise Stopped when the budget is over."""
        if self.iterations >= self._limit:
            raise Stopped(ExitFlag.ITERATION_LIMIT)
        if flag := self._budget.interrupted():
            raise Stopped(flag)

    def count(self) -> None:
        """Count an iteration; raises Stopped when the budget is over."""
        self.check()
        self.iterations += 1

    def minimize(self, method: str, objective: Objective, constraints: Sequence[Any] = (),
                 iterate: Callable[[Array], None] | None = None, **options: Any) -> bool:
        """Let SciPy minimize from the best point; return whether it ended as it should."""
        def callback(x: Array) -> None:
            self.count()
            if iterate is not None:
                iterate(x)
        if not len(self.low):
            return True
        return bool(scipy.optimize.minimize(
            lambda x: objective(self.at(x)), self.best.x, jac=True, method=method,
            bounds=list(zip(self.low, self.high, strict=True)), constraints=constraints,
            callback=callback, options=options).success)

    def stopped(self, descend: Callable[[], ExitFlag]) -> ExitFlag:
        """Return why a descent ended, by itself or where it was stopped."""
        try:
            self.check()
            return descend()
        except Stopped as stopped:
            return stopped.flag

    def reach(self, descend: Callable[[], ExitFlag]) -> ExitFlag:
        """Descend until all that must hold does; return why that ended."""
        if self.best.holds:
            return ExitFlag.CONVERGED
        self._until_held = True
        flag = self.stopped(descend)
        self._until_held = False
        return flag

    def begin_costs(self) -> None:
        """Look at the costs from now on; choose their unit at the best point."""
        self._with_costs = True
        J_r = self._rows.evaluate(self.best.q)[2].J
        curvature = float(np.sum(J_r * J_r)) / max(1, len(self.low))
        slope = float(np.abs(self._point(self.best.x).gradient).max(initial=0.0))
        self._scale = max(curvature, slope, 1e-12)
        self.now = self.best = self._point(self.best.x)

    def ended(self, flag: ExitFlag) -> Attempt:
        """Return the best point as the end of the attempt."""
        best = self.best
        return Attempt(best.q, best.error, self.iterations, flag, best.cost * self._scale,
                       best.holds)


def violation(point: Point) -> tuple[float, Array]:
    """Half the squared violation of the hard rows, and its gradient."""
    return 0.5 * point.error, -(point.away @ point.J)
