"""SciPy's L-BFGS-B and SLSQP, in the tangent space round the start of a descent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import all_positive, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag

MANY = 10**6         # of SciPy's iterations: LocalDescent counts them
NO_CHANGE = 1e-20    # of the squared violation
SOON = 40            # iterations in which SLSQP meets the rows, or hardly ever


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


class LocalDescent:
    """
    A descent in x (n,), the step of the active columns from the start.

    `low` and `high` are the limits of x; each part of a floating joint's rotation vector stays
    within pi, which covers every orientation and ends before a full turn, where x is singular.
    `best` is the best point looked at: one where the rows hold comes before all others, then the
    cheapest, else the least violated.
    """

    def __init__(self, rows: ProblemRows, start: Array, budget: Budget, limit: int,
                 solution_tolerance: float | None = None) -> None:
        self._rows, self._start, self._budget = rows, start, budget
        self._limit, self._solution_tolerance = min(limit, budget.iterations), solution_tolerance
        self.iterations, self._until_held = 0, False
        active, problem = rows.problem.active, rows.problem
        low, high = ((bound - start)[active.q_of_columns]
                     for bound in (problem.lower, problem.upper))
        for joint in active.multi_value_joints:
            if joint.kind == 'floating':    # no limits, and a rotation vector
                high[joint.columns] = [np.inf] * 3 + [np.pi] * 3
                low[joint.columns] = -high[joint.columns]
        # limits may exclude each other: SciPy must not be told that, and `conflict` tells it
        self.low, self.high = low[active.v_slice], np.maximum(low, high)[active.v_slice]
        self.now = self.best = self._point(np.zeros(len(self.low)))

    def at(self, x: Array) -> Point:
        """Return the point at x, which is computed once; raises Stopped if it is an end."""
        if not np.array_equal(x, self.now.x):
            self.now = self._point(x.copy())
            self.best = min(self.best, self.now, key=lambda point: (
                not point.holds, point.cost if point.holds else point.error))
        if self._until_held and self.now.holds:
            raise Stopped(ExitFlag.CONVERGED)
        return self.now

    def _point(self, x: Array) -> Point:
        rows, active, model = self._rows, self._rows.problem.active, self._rows.problem.robot.model
        v = np.zeros(model.nv)
        v[active.v_slice] = x
        q = rows.problem.within_limits(pin.integrate(model, self._start, v))
        # how steps from there follow from x, (n, n)
        D = pin.dIntegrate(model, self._start, v, pin.ARG1)[active.columns][:, active.columns]
        f, J, (cost, gradient) = rows.evaluate(q)
        away = rows.outside(f)
        error = float(away @ away)
        holds = (bool((np.abs(away) <= rows.tolerance).all()) if self._solution_tolerance is None
                 else error < self._solution_tolerance**2)
        return Point(x, q, f, J @ D, away, error, holds, cost, gradient @ D)

    def minimize(self, method: str, objective: Callable[[Point], tuple[float, Array]],
                 constraints: Sequence[Mapping[str, object]] = (),
                 iterate: Callable[[Array], None] | None = None,
                 until_held: bool = False, **options: Any) -> ExitFlag:
        """
        Let SciPy minimize from the best point; return why that ended.

        With `until_held` it ends where all that must hold does; `iterate` looks at each iterate
        and may raise Stopped.
        """
        def count(x: Array | None) -> None:
            if self.iterations >= self._limit:
                raise Stopped(ExitFlag.ITERATION_LIMIT)
            if flag := self._budget.interrupted():
                raise Stopped(flag)
            if x is not None:
                self.iterations += 1
                if iterate is not None:
                    iterate(x)
        if until_held and self.best.holds:
            return ExitFlag.CONVERGED
        self._until_held = until_held
        try:
            count(None)
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

    def ended(self, flag: ExitFlag) -> Attempt:
        """Return the best point as the end of the attempt."""
        best = self.best
        return Attempt(best.q, best.error, self.iterations, flag, best.cost, best.holds)


@register_solver('bfgs')
class BFGSGradientProjection(Solver):
    """
    MATLAB's BFGS gradient projection: L-BFGS-B, in the tangent space round the start.

    Minimizes 1/2 |violation|^2 of all that must hold, weighted: MATLAB's objective. MATLAB's
    parameters: it stops when the projected gradient is below `gradient_tolerance` (times
    the violation's length if that is below 1, as both vanish at a solution), or the step
    is below `step_tolerance` [rad, m], or the violation's length below `solution_tolerance`, by
    default as soon as all is within the problem's own tolerances. An attempt takes at most
    `attempt_iterations`.

    Source: Byrd et al., "A limited memory algorithm for bound constrained optimization", SIAM J.
    Sci. Comput. 1995.
    """

    kinds = frozenset(('targets', 'constraints'))

    def __init__(self, problem: IKProblem, gradient_tolerance: float = 1e-7,
                 step_tolerance: float = 1e-14, solution_tolerance: float | None = None,
                 attempt_iterations: int = 1500) -> None:
        super().__init__(problem)
        self.gradient_tolerance, self.step_tolerance = all_positive(
            InvalidOptionError, gradient_tolerance=gradient_tolerance,
            step_tolerance=step_tolerance)
        self.solution_tolerance = None if solution_tolerance is None else positive(
            solution_tolerance, 'solution_tolerance', InvalidOptionError)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.rows = ProblemRows(problem)

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        local = LocalDescent(self.rows, start, budget, self.attempt_iterations,
                             self.solution_tolerance)
        last = local.now.x

        def iterate(x: Array) -> None:
            nonlocal last
            step, last, point = np.abs(x - last).max(), x.copy(), local.at(x)
            if step < self.step_tolerance:
                raise Stopped(ExitFlag.STEP_TOO_SMALL)
            downhill = np.clip(x - point.violation()[1], local.low, local.high) - x
            if np.abs(downhill).max() <= self.gradient_tolerance * min(1.0, point.error**0.5):
                raise Stopped(ExitFlag.ERROR_CHANGE_TOO_SMALL)

        return local.ended(local.minimize(
            'L-BFGS-B', Point.violation, iterate=iterate, until_held=True, ftol=0.0, gtol=0.0,
            maxiter=MANY, maxfun=MANY))


@register_solver('slsqp')
class SLSQP(Solver):
    """
    SciPy's sequential least squares programming, in the tangent space round the start.

    First to where all that must hold does, in short steps; where SLSQP fails at that (it cannot
    use more equations than joints, nor ones that contradict each other), down the squared
    violation. Then, where there are costs, down these along the rows. `ftol` is SciPy's, with
    costs in the unit of their first gradient; an attempt takes at most `attempt_iterations`.

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

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        local = LocalDescent(self.rows, start, budget, self.attempt_iterations)
        # an equation as two inequalities: SLSQP fails where equations follow from each other
        sides = ((np.flatnonzero(np.isfinite(bound)), sign, bound)
                 for sign, bound in ((1.0, self.rows.lower), (-1.0, self.rows.upper)))
        held = [{'type': 'ineq',
                 'fun': lambda x, rows=rows, sign=sign, bound=bound: sign * (
                     local.at(x).f[rows] - bound[rows]),
                 'jac': lambda x, rows=rows, sign=sign: sign * local.at(x).J[rows]}
                for rows, sign, bound in sides if len(rows)]
        local.minimize('SLSQP', lambda point: (0.0, np.zeros(len(point.x))), held,
                       until_held=True, ftol=self.ftol, maxiter=SOON)
        flag = local.minimize('SLSQP', Point.violation, until_held=True, ftol=NO_CHANGE,
                              maxiter=MANY)
        if not (local.best.holds and self.problem.costs):
            return local.ended(flag)
        # the costs in a unit that makes the first step at most 1 long
        unit = max(float(np.abs(local.best.gradient).max(initial=0.0)), 1e-12)
        flag = local.minimize('SLSQP', lambda point: (point.cost / unit, point.gradient / unit),
                              held, ftol=self.ftol, maxiter=MANY)
        return local.ended(ExitFlag.CONVERGED if flag is ExitFlag.ERROR_CHANGE_TOO_SMALL else flag)
