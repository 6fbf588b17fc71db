"""SciPy's SLSQP."""

from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
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
        local.minimize('SLSQP', _nothing, self._constraints(local), until_held=True,
                       ftol=self.ftol, maxiter=SOON)
        flag = local.minimize('SLSQP', Point.violation, until_held=True, ftol=NO_CHANGE,
                              maxiter=MANY)
        if local.best.holds and self.problem.costs:
            flag = self._lower_costs(local)
        return local.ended(flag)

    def _lower_costs(self, local: LocalDescent) -> ExitFlag:
        """Lower the costs, in a unit that makes the first step at most 1 long."""
        unit = max(float(np.abs(local.best.gradient).max(initial=0.0)), 1e-12)
        flag = local.minimize('SLSQP', lambda point: (point.cost / unit, point.gradient / unit),
                              self._constraints(local), ftol=self.ftol, maxiter=MANY)
        return ExitFlag.CONVERGED if flag is ExitFlag.ERROR_CHANGE_TOO_SMALL else flag

    def _constraints(self, local: LocalDescent) -> list[Any]:
        """Return what must hold, as SciPy takes it."""
        lower, upper = self.rows.lower, self.rows.upper
        # an equation as two inequalities: SLSQP fails where equations follow from each other
        sides = ((np.flatnonzero(np.isfinite(lower)), 1.0, lower),
                 (np.flatnonzero(np.isfinite(upper)), -1.0, upper))
        return [{'type': 'ineq',
                 'fun': lambda x, rows=rows, sign=sign, bound=bound: sign * (
                     local.at(x).f[rows] - bound[rows]),
                 'jac': lambda x, rows=rows, sign=sign: sign * local.at(x).J[rows]}
                for rows, sign, bound in sides if len(rows)]


def _nothing(point: Point) -> tuple[float, Array]:
    return 0.0, np.zeros(len(point.x))
