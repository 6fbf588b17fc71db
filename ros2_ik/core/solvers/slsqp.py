"""SciPy's SLSQP, and a descent of SciPy's in the tangent space round its start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.linalg import qr
from scipy.optimize import minimize

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import ExitFlag, IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver

NO_CHANGE = 1e-20    # of the squared violation
SOON = 40            # iterations in which SLSQP meets the rows, or hardly ever
MANY = 10**6         # for LocalDescent counts them
DEPENDENT = 1e-6     # of the largest pivot: rows below are combinations of the others


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


class Side(NamedTuple):
    """Rows of which sign f + offset is to be 0 ('eq') or not negative ('ineq')."""

    kind: str
    rows: Indices
    sign: float
    offset: Array


Objective = Callable[[Point], tuple[float, Array]]


class LocalDescent:
    """
    One descent in x (n,), the step of the free columns from the start.

    `low` and `high` are the limits of x; each part of a floating joint's rotation vector stays
    within pi, which covers every orientation and ends before a full turn, where x is singular.
    `best` is the best point looked at: one where the rows hold comes before all others, then the
    cheapest, else the least violated. `until_held` stops at the first where they do. Costs count
    after `begin_costs`, in a unit that makes the first steps about as long as Newton's, at most
    about one [rad, m].
    """

    def __init__(self, rows: ProblemRows, start: Array, budget: Budget, limit: int,
                 solution_tolerance: float | None = None) -> None:
        self._rows, self._start, self._budget = rows, start, budget
        self._limit, self._solution_tolerance = min(limit, budget.iterations), solution_tolerance
        self._free = rows.problem.free
        self._vector_space = all(j.size == j.velocity_size for j in self._free.joints)
        self.low, self.high = self._bounds()
        self.iterations, self.until_held = 0, False
        self._with_costs, self._scale = False, 1.0
        self.now = self.best = self._point(np.zeros(len(self.low)))

    def _bounds(self) -> tuple[Array, Array]:
        free, nv = self._free, self._rows.problem.robot.nv
        position, turn = np.zeros(nv), np.full(nv, np.inf)
        for joint in free.joints:
            first = joint.velocity_index
            if joint.kind == 'floating':
                turn[first + 3:first + 6] = np.pi
            else:
                last = joint.index + joint.size
                position[first:first + joint.size] = self._start[joint.index:last]
        position, turn = position[free.column], turn[free.column]
        return (np.maximum(free.lower - position, -turn),
                np.minimum(free.upper - position, turn))

    def at(self, x: Array) -> Point:
        """Give the point at x, which is computed once; raises Stopped if it is an end."""
        if not np.array_equal(x, self.now.x):
            self.now = self._point(x.copy())
            if self._better(self.now):
                self.best = self.now
        if self.until_held and self.now.holds:
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
        if self._with_costs:
            f, J, cost, gradient = self._rows_and_costs(q)
        else:
            f, J = rows.hard(q)
            cost, gradient = 0.0, np.zeros(len(x))
        if D is not None:
            J, gradient = J @ D, gradient @ D
        away = rows.outside(f)
        error = float(away @ away)
        return Point(x, q, f, J, away, error, self._holds(away, error), cost / self._scale,
                     gradient / self._scale)

    def _rows_and_costs(self, q: Array) -> tuple[Array, Array, float, Array]:
        f, J, r, J_r = self._rows.evaluate(q)
        cost, gradient = 0.5 * float(r @ r), r @ J_r
        if self._rows.scalar_costs:
            value, slope = self._rows.scalar(q)
            cost, gradient = cost + value, gradient + slope
        return f, J, cost, gradient

    def _holds(self, away: Array, error: float) -> bool:
        if self._solution_tolerance is not None:
            return error < self._solution_tolerance**2
        return bool((np.abs(away) <= self._rows.tolerance).all())

    def _moved(self, x: Array) -> tuple[Array, Array | None]:
        """Give the start moved by x, and how steps from there follow from x where that bends."""
        problem, free = self._rows.problem, self._free
        if self._vector_space:
            q = self._start.copy()
            q[free.place] = np.minimum(np.maximum(q[free.place] + x, free.lower), free.upper)
            return q, None
        model, v = problem.robot.model, np.zeros(problem.robot.nv)
        v[free.column] = x
        q = pin.integrate(model, self._start, v)
        D = pin.dIntegrate(model, self._start, v, pin.ARG1)[free.columns][:, free.columns]
        return problem.locked(np.minimum(np.maximum(q, problem.lower), problem.upper)), D

    def count(self, x: Array) -> None:
        """Count an iteration; raises Stopped when the budget is over."""
        self.check()
        self.iterations += 1

    def check(self) -> None:
        """Raise Stopped when the budget is over."""
        if self.iterations >= self._limit:
            raise Stopped(ExitFlag.ITERATION_LIMIT)
        if flag := self._budget.interrupted():
            raise Stopped(flag)

    def begin_costs(self) -> None:
        """Look at the costs from now on; choose their unit at the best point."""
        self._with_costs = True
        J_r = self._rows.evaluate(self.best.q)[3]
        curvature = float(np.sum(J_r * J_r)) / max(1, len(self.low))
        slope = float(np.abs(self._point(self.best.x).gradient).max(initial=0.0))
        self._scale = max(curvature, slope, 1e-12)
        self.now = self.best = self._point(self.best.x)

    def ended(self, flag: ExitFlag) -> Attempt:
        """Give the best point as the end of the attempt."""
        best = self.best
        return Attempt(best.q, best.error, self.iterations, flag, best.cost * self._scale,
                       best.holds)


@register_solver('slsqp')
class SLSQP(Solver):
    """
    SciPy's sequential least squares programming, in the tangent space round the start.

    First to where all that must hold does, in short steps; where SLSQP fails at that (it cannot
    use more equations than joints, nor ones that contradict each other), down the squared
    violation. Then, where there are costs, down these along the rows. Equations that follow from
    others are left out of its sight. `ftol` is SciPy's, in the unit of the costs' curvature; an
    attempt takes at most `attempt_iterations`.

    Source: Kraft, "A software package for sequential quadratic programming", DFVLR-FB 88-28, 1988.
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def __init__(self, problem: IKProblem, ftol: float = 1e-10,
                 attempt_iterations: int = 150) -> None:
        super().__init__(problem)
        self.ftol = positive(ftol, 'ftol', InvalidOptionError)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.rows = ProblemRows(problem)
        lower, upper = self.rows.lower, self.rows.upper
        self._equal = np.flatnonzero(lower == upper)
        self._above = np.flatnonzero((lower < upper) & np.isfinite(lower))
        self._below = np.flatnonzero((lower < upper) & np.isfinite(upper))

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        local = LocalDescent(self.rows, start, budget, self.attempt_iterations)
        try:
            flag = self._reach(local, local.now)
            if local.best.holds and self.problem.costs:
                flag = self._improve(local)
        except Stopped as stopped:
            flag = stopped.flag
        return local.ended(flag)

    def _reach(self, local: LocalDescent, begin: Point) -> ExitFlag:
        """Go to where all that must hold does, or as near as it gets."""
        if begin.holds:
            return ExitFlag.CONVERGED
        local.check()
        local.until_held = True
        try:
            self._run(local, begin.x, _nothing, self._sides(begin), self.ftol, SOON)
            nearest = begin.x if local.best.holds else local.best.x
            success = self._run(local, nearest, violation, [], NO_CHANGE)[1]
        except Stopped as stopped:
            if stopped.flag is not ExitFlag.CONVERGED:
                raise
            return ExitFlag.CONVERGED
        finally:
            local.until_held = False
        return ExitFlag.ERROR_CHANGE_TOO_SMALL if success else ExitFlag.STEP_TOO_SMALL

    def _improve(self, local: LocalDescent) -> ExitFlag:
        """Lower the costs from the best point, where all that must hold does."""
        local.begin_costs()
        local.check()
        begin = local.best
        x, success = self._run(local, begin.x, _cost, self._sides(begin), self.ftol)
        if not local.at(x).holds and local.now.cost < local.best.cost:
            self._reach(local, local.now)    # rows that were left out do not follow after all
        return ExitFlag.CONVERGED if success else ExitFlag.STEP_TOO_SMALL

    def _run(self, local: LocalDescent, x: Array, objective: Objective, sides: list[Side],
             ftol: float, most: int = MANY) -> tuple[Array, bool]:
        """Let SLSQP run from x: where it ended, and whether that is where it wanted to."""
        if not len(x):
            return x, True
        constraints = [{
            'type': side.kind,
            'fun': lambda x, side=side: side.sign * local.at(x).f[side.rows] + side.offset,
            'jac': lambda x, side=side: side.sign * local.at(x).J[side.rows]} for side in sides]
        result = minimize(lambda x: objective(local.at(x)), x, jac=True, method='SLSQP',
                          bounds=list(zip(local.low, local.high, strict=True)),
                          constraints=constraints, callback=local.count,
                          options={'ftol': ftol, 'maxiter': most})
        return result.x, bool(result.success)

    def _sides(self, point: Point) -> list[Side]:
        """Give what SLSQP is to hold; of the equations as many as are independent at a point."""
        lower, upper, above, below = self.rows.lower, self.rows.upper, self._above, self._below
        equal = self._equal[independent(point.J[self._equal])]
        sides = (Side('eq', equal, 1.0, -lower[equal]), Side('ineq', above, 1.0, -lower[above]),
                 Side('ineq', below, -1.0, upper[below]))
        return [side for side in sides if len(side.rows)]


def _nothing(point: Point) -> tuple[float, Array]:
    return 0.0, np.zeros(len(point.x))


def violation(point: Point) -> tuple[float, Array]:
    """Half the squared violation of the hard rows, and its gradient."""
    return 0.5 * point.error, -(point.away @ point.J)


def _cost(point: Point) -> tuple[float, Array]:
    return point.cost, point.gradient


def independent(J: Array) -> Indices:
    """Give the indices of as many rows of J (m, n) as are linearly independent."""
    if not J.size:
        return np.zeros(0, dtype=np.intp)
    R, order = qr(J.T, mode='r', pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > DEPENDENT * pivots[0]).sum())
    return np.sort(order[:rank]).astype(np.intp)
