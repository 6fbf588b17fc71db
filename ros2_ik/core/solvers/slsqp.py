"""SciPy's SLSQP."""

from typing import NamedTuple

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.local_descent import (
    LocalDescent,
    MANY,
    Objective,
    Point,
    Stopped,
    violation,
)
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag

NO_CHANGE = 1e-20    # of the squared violation
SOON = 40            # iterations in which SLSQP meets the rows, or hardly ever
DEPENDENT = 1e-6     # of the largest pivot: rows below are combinations of the others


class Side(NamedTuple):
    """Rows of which sign f + offset is to be 0 ('eq') or not negative ('ineq')."""

    kind: str
    rows: Indices
    sign: float
    offset: Array


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
        result = scipy.optimize.minimize(
            lambda x: objective(local.at(x)), x, jac=True, method='SLSQP',
            bounds=list(zip(local.low, local.high, strict=True)), constraints=constraints,
            callback=local.count, options={'ftol': ftol, 'maxiter': most})
        return result.x, bool(result.success)

    def _sides(self, point: Point) -> list[Side]:
        """Return what SLSQP is to hold; of the equations as many as are independent at a point."""
        lower, upper, above, below = self.rows.lower, self.rows.upper, self._above, self._below
        equal = self._equal[independent(point.J[self._equal])]
        sides = (Side('eq', equal, 1.0, -lower[equal]), Side('ineq', above, 1.0, -lower[above]),
                 Side('ineq', below, -1.0, upper[below]))
        return [side for side in sides if len(side.rows)]


def _nothing(point: Point) -> tuple[float, Array]:
    return 0.0, np.zeros(len(point.x))


def _cost(point: Point) -> tuple[float, Array]:
    return point.cost, point.gradient


def independent(J: Array) -> Indices:
    """Return the indices of as many rows of J (m, n) as are linearly independent."""
    if not J.size:
        return np.zeros(0, dtype=np.intp)
    R, order = scipy.linalg.qr(J.T, mode='r', pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > DEPENDENT * pivots[0]).sum())
    return np.sort(order[:rank]).astype(np.intp)
