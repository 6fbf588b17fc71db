"""MATLAB's BFGS gradient projection, with SciPy's L-BFGS-B."""

import numpy as np
import scipy

from ros2_ik.core.arrays import Array
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

FIRST_PENALTY, MOST_PENALTY = 10.0, 1e8
SHRUNK = 0.25        # of the violation is left after an update of the multipliers that works
NO_CHANGE = 1e-15    # of the Lagrangian, relative: rounding


@register_solver('bfgs')
class BFGSGradientProjection(Solver):
    """
    BFGS with the gradient projected on the joint limits, in the tangent space round the start.

    First down 1/2 |violation|^2 of all that must hold, weighted: with targets only that is
    MATLAB's objective. Then, where there are costs, down these by an augmented Lagrangian.

    MATLAB's parameters: ends where the projected gradient is below `gradient_tolerance` (times
    the violation's length where that is below 1, for it vanishes with it at a solution), the step
    below `step_tolerance` [rad, m], or the violation's length below `solution_tolerance`, by
    default when all is within the problem's own tolerances. An attempt takes at most
    `attempt_iterations`.

    Source: Byrd et al., "A limited memory algorithm for bound constrained optimization", SIAM J.
    Sci. Comput. 1995; Nocedal and Wright, "Numerical Optimization", 17.4.
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def __init__(self, problem: IKProblem, gradient_tolerance: float = 1e-7,
                 step_tolerance: float = 1e-14, solution_tolerance: float | None = None,
                 attempt_iterations: int = 1500) -> None:
        super().__init__(problem)
        self.gradient_tolerance = positive(gradient_tolerance, 'gradient_tolerance',
                                           InvalidOptionError)
        self.step_tolerance = positive(step_tolerance, 'step_tolerance', InvalidOptionError)
        self.solution_tolerance = solution_tolerance
        if solution_tolerance is not None:
            positive(solution_tolerance, 'solution_tolerance', InvalidOptionError)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.rows = ProblemRows(problem)

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        local = LocalDescent(self.rows, start, budget, self.attempt_iterations,
                             self.solution_tolerance)
        try:
            flag = self._reach(local, local.now.x)
            if local.best.holds and self.problem.costs:
                flag = self._improve(local)
        except Stopped as stopped:
            flag = stopped.flag
        return local.ended(flag)

    def _reach(self, local: LocalDescent, x: Array) -> ExitFlag:
        """Go from x to where all that must hold does, or as near as it gets."""
        if local.at(x).holds:
            return ExitFlag.CONVERGED
        local.check()
        local.until_held = True
        try:
            return self._run(local, x, violation, 0.0)[1]
        except Stopped as stopped:
            if stopped.flag is not ExitFlag.CONVERGED:
                raise
            return ExitFlag.CONVERGED
        finally:
            local.until_held = False

    def _improve(self, local: LocalDescent) -> ExitFlag:
        """Lower the costs from the best point, where all that must hold does."""
        local.begin_costs()
        rows, x = self.rows, local.best.x
        multipliers, penalty, before = np.zeros(len(rows.lower)), FIRST_PENALTY, np.inf
        while penalty <= MOST_PENALTY:
            local.check()
            x, flag = self._run(local, x, self._lagrangian(multipliers, penalty), NO_CHANGE)
            updated = penalty * _beyond(rows, local.at(x).f + multipliers / penalty)
            change = np.abs(updated - multipliers) / penalty
            multipliers = updated
            if (change <= rows.tolerance).all():
                break
            left = float(change.max())
            if not left <= SHRUNK * before:
                penalty *= 10.0
            before = left
        if not local.at(x).holds and local.now.cost < local.best.cost:
            self._reach(local, x)
        return ExitFlag.CONVERGED if penalty <= MOST_PENALTY else flag

    def _lagrangian(self, multipliers: Array, penalty: float) -> Objective:
        rows, shift = self.rows, multipliers / penalty

        def objective(point: Point) -> tuple[float, Array]:
            beyond = _beyond(rows, point.f + shift)
            return (point.cost + 0.5 * penalty * float(beyond @ beyond),
                    point.gradient + penalty * (beyond @ point.J))
        return objective

    def _run(self, local: LocalDescent, x: Array, objective: Objective,
             ftol: float) -> tuple[Array, ExitFlag]:
        """Let L-BFGS-B run from x; where and why it ended."""
        if not len(x):
            return x, ExitFlag.STEP_TOO_SMALL
        last = x

        def iterate(x: Array) -> None:
            nonlocal last
            local.count(x)
            step, last = np.abs(x - last).max(), x.copy()
            if step < self.step_tolerance:
                raise _Ended(x.copy(), ExitFlag.STEP_TOO_SMALL)
            if self._flat(local, x, objective):
                raise _Ended(x.copy(), ExitFlag.ERROR_CHANGE_TOO_SMALL)
        try:
            result = scipy.optimize.minimize(
                lambda x: objective(local.at(x)), x, jac=True, method='L-BFGS-B',
                bounds=list(zip(local.low, local.high, strict=True)), callback=iterate,
                options={'ftol': ftol, 'gtol': 0.0, 'maxiter': MANY, 'maxfun': MANY})
        except _Ended as ended:
            return ended.x, ended.flag
        return result.x, ExitFlag.STEP_TOO_SMALL

    def _flat(self, local: LocalDescent, x: Array, objective: Objective) -> bool:
        """Return whether the limits leave no gradient at x."""
        point = local.at(x)
        downhill = np.clip(x - objective(point)[1], local.low, local.high) - x
        least = self.gradient_tolerance
        if objective is violation:
            least *= min(1.0, float(np.sqrt(point.error)))
        return bool(np.abs(downhill).max() <= least)


class _Ended(Exception):
    """Ends one run of L-BFGS-B, not the attempt."""

    def __init__(self, x: Array, flag: ExitFlag) -> None:
        super().__init__(flag.name)
        self.x, self.flag = x, flag


def _beyond(rows: ProblemRows, f: Array) -> Array:
    """How far values f of the hard rows are beyond their bounds, with sign, (m,)."""
    return -rows.outside(f)
