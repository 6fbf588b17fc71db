"""The solvers `bfgs` and `slsqp`: SciPy's L-BFGS-B and SLSQP in the tangent space of the start."""

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

# iteration limit passed to SciPy: no limit, because LocalDescent counts the iterations
UNLIMITED = 10**6
# change of the squared violation below which its minimization ends
VIOLATION_FTOL = 1e-20
# iterations after which SLSQP is unlikely to meet the hard rows
FEASIBLE_ITERATIONS = 40


class Stopped(Exception):
    """Ends a run of SciPy from within one of its callbacks."""

    def __init__(self, flag: ExitFlag) -> None:
        super().__init__(flag.name)
        self.flag = flag


@dataclass(frozen=True)
class Point:
    """Values and derivatives of a problem at x (n,): hard rows f (m,), J (m, n), and the cost."""

    x: Array
    q: Array
    f: Array
    J: Array
    # changes that bring the hard rows to their bounds, see ProblemRows.outside
    away: Array
    # squared violation of the hard rows
    error: float
    # True if the hard rows are within their tolerances
    holds: bool
    cost: float
    gradient: Array

    def violation(self) -> tuple[float, Array]:
        """Return half the squared violation of the hard rows, and its gradient (n,)."""
        return 0.5 * self.error, -(self.away @ self.J)


class LocalDescent:
    """
    A descent in x (n,), the displacement of the active columns from the start.

    `low` and `high` (n,) are the limits of x. The rotation vector of a floating joint is limited
    to pi in each component: all orientations remain possible, but not a full turn, at which x is
    singular. `best` is the best point evaluated: the lowest cost of the points that meet
    the hard rows, otherwise the smallest violation.
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
            # the position has no limits; the rotation vector is limited to pi
            if joint.kind == 'floating':
                high[joint.columns] = [np.inf] * 3 + [np.pi] * 3
                low[joint.columns] = -high[joint.columns]
        # SciPy requires low <= high; limits that exclude each other are reported by `conflict`
        self.low, self.high = low[active.v_slice], np.maximum(low, high)[active.v_slice]
        self.now = self.best = self._point(np.zeros(len(self.low)))

    def at(self, x: Array) -> Point:
        """
        Return the point at x (n,); the last point is cached.

        Raises Stopped if the hard rows hold at x during a run with `until_held`.
        """
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
        # derivative of the tangent step at q with respect to x, (n, n)
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
        Run scipy.optimize.minimize from the best point; return the exit flag.

        With `until_held` the run ends where the hard rows hold. `iterate` is called with each
        iterate and may raise Stopped. `options` are SciPy's.
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
        """Return the attempt that ends at the best point."""
        best = self.best
        return Attempt(best.q, best.error, self.iterations, flag, best.cost, best.holds)


@register_solver('bfgs')
class BFGSGradientProjection(Solver):
    """
    L-BFGS-B in the tangent space of the start, the counterpart of MATLAB's BFGS solver.

    Minimizes 1/2 |violation|^2 of the weighted hard rows, MATLAB's objective. A descent takes at
    most `attempt_iterations`. It ends earlier by MATLAB's tolerances:

    - `gradient_tolerance`: bound on the projected gradient, times min(1, |violation|), because
      both vanish at a solution;
    - `step_tolerance` [rad, m]: bound on the step;
    - `solution_tolerance`: bound on |violation| for success (None: the tolerances of the problem).

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
            # the gradient projected on the limits: the part of a descent step that stays inside
            downhill = np.clip(x - point.violation()[1], local.low, local.high) - x
            if np.abs(downhill).max() <= self.gradient_tolerance * min(1.0, point.error**0.5):
                raise Stopped(ExitFlag.ERROR_CHANGE_TOO_SMALL)

        return local.ended(local.minimize(
            'L-BFGS-B', Point.violation, iterate=iterate, until_held=True, ftol=0.0, gtol=0.0,
            maxiter=UNLIMITED, maxfun=UNLIMITED))


@register_solver('slsqp')
class SLSQP(Solver):
    """
    SciPy's sequential least-squares programming (SLSQP) in the tangent space of the start.

    An attempt has three phases: SLSQP with the hard rows as constraints and no objective; if that
    fails (SLSQP cannot use more equations than joints, or contradictory ones), minimization of the
    squared violation; then, if there are costs, SLSQP on the costs with the hard rows as
    constraints. `ftol` is SciPy's, for costs divided by the largest component of their first
    gradient. An attempt takes at most `attempt_iterations`.

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
        # write equalities as two inequalities: SLSQP fails on dependent equality constraints
        sides = ((np.flatnonzero(np.isfinite(bound)), sign, bound)
                 for sign, bound in ((1.0, self.rows.lower), (-1.0, self.rows.upper)))
        held = [{'type': 'ineq',
                 'fun': lambda x, rows=rows, sign=sign, bound=bound: sign * (
                     local.at(x).f[rows] - bound[rows]),
                 'jac': lambda x, rows=rows, sign=sign: sign * local.at(x).J[rows]}
                for rows, sign, bound in sides if len(rows)]
        local.minimize('SLSQP', lambda point: (0.0, np.zeros(len(point.x))), held,
                       until_held=True, ftol=self.ftol, maxiter=FEASIBLE_ITERATIONS)
        # returns at once if the first phase has met the hard rows
        flag = local.minimize('SLSQP', Point.violation, until_held=True, ftol=VIOLATION_FTOL,
                              maxiter=UNLIMITED)
        if not (local.best.holds and self.problem.costs):
            return local.ended(flag)
        # scale the costs so that no component of the first gradient exceeds 1
        unit = max(float(np.abs(local.best.gradient).max(initial=0.0)), 1e-12)
        flag = local.minimize('SLSQP', lambda point: (point.cost / unit, point.gradient / unit),
                              held, ftol=self.ftol, maxiter=UNLIMITED)
        return local.ended(ExitFlag.CONVERGED if flag is ExitFlag.ERROR_CHANGE_TOO_SMALL else flag)
