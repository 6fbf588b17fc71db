"""SciPy's SLSQP."""

from typing import Any

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.local_descent import LocalDescent, MANY, Point
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag

NO_CHANGE = 1e-20    # of the squared violation
SOON = 40            # iterations in which SLSQP meets the rows, or hardly ever
DEPENDENT = 1e-6     # of the largest pivot: rows below are combinations of the others


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

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        local = LocalDescent(self.rows, start, budget, self.attempt_iterations)
        flag = self._hold(local)
        if local.best.holds and self.problem.costs:
            flag = self._lower_costs(local)
        return local.ended(flag)

    def _hold(self, local: LocalDescent) -> ExitFlag:
        local.minimize('SLSQP', _nothing, self._constraints(local), until_held=True,
                       ftol=self.ftol, maxiter=SOON)
        return local.minimize('SLSQP', Point.violation, until_held=True, ftol=NO_CHANGE,
                              maxiter=MANY)

    def _lower_costs(self, local: LocalDescent) -> ExitFlag:
        """Lower the costs, in a unit that makes first steps about as long as Newton's."""
        J = self.rows.evaluate(local.best.q)[2].J
        curvature = float(np.sum(J * J)) / max(1, len(local.low))
        unit = max(curvature, float(np.abs(local.best.gradient).max(initial=0.0)), 1e-12)
        flag = local.minimize('SLSQP', lambda point: (point.cost / unit, point.gradient / unit),
                              self._constraints(local), ftol=self.ftol, maxiter=MANY)
        return ExitFlag.CONVERGED if flag is ExitFlag.ERROR_CHANGE_TOO_SMALL else flag

    def _constraints(self, local: LocalDescent) -> list[Any]:
        """Return what must hold; of the equations as many as are independent at the best point."""
        lower, upper = self.rows.lower, self.rows.upper
        equal = np.flatnonzero(lower == upper)
        sides = (('eq', equal[independent(local.best.J[equal])], 1.0, lower),
                 ('ineq', np.flatnonzero((lower < upper) & np.isfinite(lower)), 1.0, lower),
                 ('ineq', np.flatnonzero((lower < upper) & np.isfinite(upper)), -1.0, upper))
        return [{'type': kind,
                 'fun': lambda x, rows=rows, sign=sign, bound=bound: sign * (
                     local.at(x).f[rows] - bound[rows]),
                 'jac': lambda x, rows=rows, sign=sign: sign * local.at(x).J[rows]}
                for kind, rows, sign, bound in sides if len(rows)]


def _nothing(point: Point) -> tuple[float, Array]:
    return 0.0, np.zeros(len(point.x))


def independent(J: Array) -> Indices:
    """Return the indices of as many rows of J (m, n) as are linearly independent."""
    if not J.size:
        return np.zeros(0, dtype=np.intp)
    R, order = scipy.linalg.qr(J.T, mode='r', pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > DEPENDENT * pivots[0]).sum())
    return np.sort(order[:rank]).astype(np.intp)
