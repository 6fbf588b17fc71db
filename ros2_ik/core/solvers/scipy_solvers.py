"""The solvers `bfgs` and `slsqp`: SciPy's L-BFGS-B and SLSQP; floating joints are refused."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, Budget, register_solver, Solver
from ros2_ik.core.status import ExitFlag

# maximum number of iterations of a descent, costs included
ITERATIONS = 300
# iteration limit passed to SciPy: no limit, because `Descent` counts the iterations
UNLIMITED = 10**6
# tolerance `ftol` of SciPy's SLSQP for costs
COST_TOLERANCE = 1e-10


class Stopped(Exception):
    """Ends a run of SciPy from within its callback; the argument is the exit flag."""


class Point(NamedTuple):
    """Hard rows f (m,) and J (m, n), cost and gradient (n,), and the attempt that ends here."""

    x: Array
    f: Array
    J: Array
    # changes that bring the hard rows to their bounds, see ProblemRows.outside
    away: Array
    gradient: Array
    end: Attempt


class Descent:
    """
    A descent in the active values x (n,).

    `best` is the best point evaluated: the lowest cost of the points that meet the hard rows,
    otherwise the smallest violation.
    """

    def __init__(self, rows: ProblemRows, start: Array, budget: Budget) -> None:
        self._rows, self._budget, self.iterations = rows, budget, 0
        self._q = rows.problem.within_limits(start)
        self._now = self.best = self._point(self._q[rows.problem.active.q_slice].copy())

    def _at(self, x: Array) -> Point:
        """Return the point at x (n,); the last point is cached."""
        if not np.array_equal(x, self._now.x):
            self._now = self._point(x.copy())
            self.best = min(self.best, self._now, key=lambda point: (
                not point.end.holds, point.end.cost if point.end.holds else point.end.error))
        return self._now

    def _point(self, x: Array) -> Point:
        rows, q = self._rows, self._q.copy()
        # rounding in SciPy may exceed the limits
        q[rows.problem.active.q_slice] = np.clip(x, *rows.limits)
        f, J, (cost, gradient) = rows.evaluate(q)
        away = rows.outside(f)
        return Point(x, f, J, away, gradient, Attempt(
            q, float(away @ away), 0, ExitFlag.NOT_RUN, cost,
            bool((np.abs(away) <= rows.tolerance).all())))

    def meet_hard_rows(self, gradient_tolerance: float) -> ExitFlag:
        """Minimize half the squared violation until the hard rows hold; return the exit flag."""
        return self._minimize(
            'L-BFGS-B', lambda point: (0.5 * point.end.error, -(point.away @ point.J)),
            until_held=True, ftol=0.0, gtol=gradient_tolerance, maxfun=UNLIMITED)

    def minimize_costs(self, until_held: bool) -> ExitFlag:
        """Minimize the costs under the hard rows as constraints; return the exit flag."""
        # scale the costs so that no component of the first gradient exceeds 1
        unit = max(float(np.abs(self.best.gradient).max(initial=0.0)), 1e-12)
        # write equalities as two inequalities: SLSQP fails on dependent equality constraints
        sides = ((np.flatnonzero(np.isfinite(bound)), sign, bound)
                 for sign, bound in ((1.0, self._rows.lower), (-1.0, self._rows.upper)))
        held = [{'type': 'ineq',
                 'fun': lambda x, rows=rows, sign=sign, bound=bound: sign * (
                     self._at(x).f[rows] - bound[rows]),
                 'jac': lambda x, rows=rows, sign=sign: sign * self._at(x).J[rows]}
                for rows, sign, bound in sides if len(rows)]
        return self._minimize(
            'SLSQP', lambda point: (point.end.cost / unit, point.gradient / unit), held,
            until_held, ftol=COST_TOLERANCE)

    def _minimize(self, method: str, objective: Callable[[Point], tuple[float, Array]],
                  constraints: Sequence[Mapping[str, object]] = (), until_held: bool = False,
                  **options: float) -> ExitFlag:
        """Run scipy.optimize.minimize, with SciPy's `options`, from the best point."""
        # SciPy requires low <= high; limits that exclude each other are reported by `conflict`
        low, high = self._rows.limits
        bounds = list(zip(low, np.maximum(low, high), strict=True))

        def look(x: Array | None) -> None:
            self.iterations += x is not None
            if until_held and self.best.end.holds:
                raise Stopped(ExitFlag.CONVERGED)
            if flag := self._budget.interrupted():
                raise Stopped(flag)
            if self.iterations >= min(ITERATIONS, self._budget.iterations):
                raise Stopped(ExitFlag.ITERATION_LIMIT)
            if not bounds:
                raise Stopped(ExitFlag.STEP_TOO_SMALL)
        try:
            look(None)
            success = scipy.optimize.minimize(
                lambda x: objective(self._at(x)), self.best.x, jac=True, method=method,
                bounds=bounds, constraints=constraints,
                callback=look, options={'maxiter': UNLIMITED, **options}).success
        except Stopped as stopped:
            flag: ExitFlag = stopped.args[0]
            return flag
        return ExitFlag.ERROR_CHANGE_TOO_SMALL if success else ExitFlag.STEP_TOO_SMALL


@register_solver('bfgs')
class BFGSGradientProjection(Solver):
    """
    L-BFGS-B on the active joints, the counterpart of MATLAB's BFGS solver.

    Minimizes 1/2 |violation|^2 of the weighted hard rows, MATLAB's objective. A descent takes at
    most ITERATIONS, and ends where no component of the gradient, projected on the
    limits, exceeds `gradient_tolerance`.

    Source: Byrd et al., "A limited memory algorithm for bound constrained optimization", SIAM J.
    Sci. Comput. 1995.
    """

    kinds = frozenset(('targets', 'constraints'))

    def __init__(self, problem: IKProblem, gradient_tolerance: float = 1e-10) -> None:
        super().__init__(problem)
        if problem.active.floating_starts.size:
            raise InvalidOptionError(f"solver '{self.name}' moves no floating joints; valid: lock "
                                     "them, or use 'lm' or 'sqp'")
        self.gradient_tolerance = positive(gradient_tolerance, 'gradient_tolerance',
                                           InvalidOptionError)
        self.rows = ProblemRows(problem)

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        descent = Descent(self.rows, start, budget)
        flag = self._descend(descent)
        return descent.best.end._replace(iterations=descent.iterations, exit_flag=flag)

    def _descend(self, descent: Descent) -> ExitFlag:
        return descent.meet_hard_rows(self.gradient_tolerance)


@register_solver('slsqp')
class SLSQP(BFGSGradientProjection):
    """
    SciPy's sequential least-squares programming (SLSQP) on the active joints.

    The hard rows are constraints; a descent without costs ends when they hold. The costs are
    divided by the largest component of their first gradient; SciPy's `ftol` is COST_TOLERANCE.

    Source: Kraft, "A software package for sequential quadratic programming", DFVLR-FB 88-28, 1988.
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def __init__(self, problem: IKProblem) -> None:
        super().__init__(problem)

    def _descend(self, descent: Descent) -> ExitFlag:
        flag = descent.minimize_costs(until_held=not self.problem.costs)
        return (ExitFlag.CONVERGED if flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
                and descent.best.end.holds else flag)
