"""The solvers `bfgs` and `slsqp`: SciPy's L-BFGS-B and SLSQP; they reject floating joints."""

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

# iteration limit passed to SciPy, never reached: LocalDescent ends earlier, by its own count
SCIPY_UNLIMITED = 10**6
# maximum number of iterations of all phases of a descent together
ITERATIONS = 300
# maximum number of iterations of the first phase of `slsqp`, which meets the hard rows
FEASIBLE_ITERATIONS = 40
# tolerance `ftol` of SciPy's SLSQP for costs
COST_TOLERANCE = 1e-10


class Stopped(Exception):
    """Raised in a callback to end SciPy's run."""

    def __init__(self, flag: ExitFlag) -> None:
        super().__init__(flag.name)
        self.flag = flag


class Point(NamedTuple):
    """Values and derivatives of a problem at x (n,): hard rows f (m,), J (m, n), and the cost."""

    x: Array
    q: Array
    f: Array
    J: Array
    # changes that bring the hard rows to their bounds, see ProblemRows.bound_residuals
    residuals: Array
    # squared violation of the hard rows
    error: float
    # True if the hard rows are within their tolerances
    is_feasible: bool
    cost: float
    gradient: Array

    def violation(self) -> tuple[float, Array]:
        """Return half the squared violation of the hard rows, and its gradient (n,)."""
        return 0.5 * self.error, -(self.residuals @ self.J)


class LocalDescent:
    """
    A descent in the active values x (n,).

    `best` is the cheapest evaluated point that meets the hard rows or, if no point meets them, the
    point with the smallest violation.
    """

    def __init__(self, rows: ProblemRows, start: Array, budget: Budget) -> None:
        self._rows, self._budget, self.iterations = rows, budget, 0
        self._limit = min(ITERATIONS, budget.iterations)
        # SciPy requires low <= high; `conflict` reports limits that exclude each other
        low, high = rows.limits
        self._bounds = list(zip(low, np.maximum(low, high), strict=True))
        self._q = rows.problem.within_limits(start)
        self.now = self.best = self._point(self._q[rows.problem.active.q_slice].copy())

    def at(self, x: Array) -> Point:
        """Return the point at x (n,); the last point is cached."""
        if not np.array_equal(x, self.now.x):
            self.now = self._point(x.copy())
            self.best = min(self.best, self.now, key=lambda point: (
                not point.is_feasible, point.cost if point.is_feasible else point.error))
        return self.now

    def _point(self, x: Array) -> Point:
        rows, q = self._rows, self._q.copy()
        # rounding errors in SciPy may move x beyond the limits
        q[rows.problem.active.q_slice] = np.clip(x, *rows.limits)
        f, J, (cost, gradient) = rows.evaluate(q)
        residuals = rows.bound_residuals(f)
        return Point(x, q, f, J, residuals, float(residuals @ residuals),
                     bool((np.abs(residuals) <= rows.tolerance).all()), cost, gradient)

    def meet_hard_rows(self, gradient_tolerance: float) -> ExitFlag:
        """Minimize the squared violation until the hard rows hold; return the exit flag."""
        return self._minimize('L-BFGS-B', Point.violation, until_feasible=True, ftol=0.0,
                              gtol=gradient_tolerance, maxfun=SCIPY_UNLIMITED)

    def minimize_costs(self) -> ExitFlag:
        """Minimize the costs subject to the hard rows; return the exit flag."""
        # scale the costs so that no component of the first gradient exceeds 1
        unit = max(float(np.abs(self.best.gradient).max(initial=0.0)), 1e-12)
        return self._minimize('SLSQP', lambda point: (point.cost / unit, point.gradient / unit),
                              self._scipy_constraints(), ftol=COST_TOLERANCE)

    def meet_constraints(self) -> ExitFlag:
        """Meet the hard rows as constraints of SLSQP; return the exit flag."""
        return self._minimize('SLSQP', lambda point: (0.0, np.zeros(len(point.x))),
                              self._scipy_constraints(), True, maxiter=FEASIBLE_ITERATIONS)

    def _scipy_constraints(self) -> list[Mapping[str, object]]:
        """Return the hard rows as SciPy's constraints."""
        # write equalities as two inequalities: SLSQP fails on linearly dependent equalities
        sides = ((np.flatnonzero(np.isfinite(bound)), sign, bound)
                 for sign, bound in ((1.0, self._rows.lower), (-1.0, self._rows.upper)))
        return [{'type': 'ineq',
                 'fun': lambda x, rows=rows, sign=sign, bound=bound: sign * (
                     self.at(x).f[rows] - bound[rows]),
                 'jac': lambda x, rows=rows, sign=sign: sign * self.at(x).J[rows]}
                for rows, sign, bound in sides if len(rows)]

    def _minimize(self, method: str, objective: Callable[[Point], tuple[float, Array]],
                  constraints: Sequence[Mapping[str, object]] = (), until_feasible: bool = False,
                  **options: float) -> ExitFlag:
        """Run scipy.optimize.minimize, with SciPy's `options`, from the best point."""
        def check_stop(x: Array | None) -> None:
            self.iterations += x is not None
            if until_feasible and self.best.is_feasible:
                raise Stopped(ExitFlag.CONVERGED)
            if flag := self._budget.interrupted():
                raise Stopped(flag)
            if self.iterations >= self._limit:
                raise Stopped(ExitFlag.ITERATION_LIMIT)
            if not self._bounds:
                raise Stopped(ExitFlag.STEP_TOO_SMALL)
        try:
            check_stop(None)
            success = scipy.optimize.minimize(
                lambda x: objective(self.at(x)), self.best.x, jac=True, method=method,
                bounds=self._bounds, constraints=constraints,
                callback=check_stop, options={'maxiter': SCIPY_UNLIMITED, **options}).success
        except Stopped as stopped:
            return stopped.flag
        return ExitFlag.ERROR_CHANGE_TOO_SMALL if success else ExitFlag.STEP_TOO_SMALL


@register_solver('bfgs')
class BFGSGradientProjection(Solver):
    """
    L-BFGS-B on the active joints, the counterpart of MATLAB's BFGS solver.

    Minimizes 1/2 |violation|^2 of the weighted hard rows, MATLAB's objective. A descent takes at
    most ITERATIONS iterations. It ends as soon as the hard rows hold, or when no component of the
    projected gradient exceeds `gradient_tolerance`.

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
        local = LocalDescent(self.rows, start, budget)
        flag, best = self._descend(local), local.best
        return Attempt(best.q, best.error, local.iterations, flag, best.cost, best.is_feasible)

    def _descend(self, local: LocalDescent) -> ExitFlag:
        return local.meet_hard_rows(self.gradient_tolerance)


@register_solver('slsqp')
class SLSQP(BFGSGradientProjection):
    """
    SciPy's sequential least-squares programming (SLSQP) on the active joints.

    Phase 1 runs SLSQP with the hard rows as constraints and no objective. If the hard rows are
    still not met, phase 2 is a descent as in `bfgs`. If phase 1 or 2 meets them and there are
    costs, phase 3 runs SLSQP on the costs with the hard rows as constraints. The costs are divided
    by the largest component of their first gradient, and `ftol` is COST_TOLERANCE.

    Source: Kraft, "A software package for sequential quadratic programming", DFVLR-FB 88-28, 1988.
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def _descend(self, local: LocalDescent) -> ExitFlag:
        flag = local.meet_constraints()
        if not local.best.is_feasible:
            flag = super()._descend(local)
        if flag is ExitFlag.CONVERGED and self.problem.costs:
            flag = local.minimize_costs()
            if flag is ExitFlag.ERROR_CHANGE_TOO_SMALL:
                return ExitFlag.CONVERGED
        return flag
