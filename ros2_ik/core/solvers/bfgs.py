"""MATLAB's BFGS gradient projection, with SciPy's L-BFGS-B."""

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import all_positive, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.local_descent import LocalDescent, MANY, Point, Stopped
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag


@register_solver('bfgs')
class BFGSGradientProjection(Solver):
    """
    BFGS with the gradient projected on the joint limits, in the tangent space round the start.

    Minimizes 1/2 |violation|^2 of all that must hold, weighted: MATLAB's objective. MATLAB's
    parameters: ends where the projected gradient is below `gradient_tolerance` (times
    the violation's length where that is below 1, for it vanishes with it at a solution), the step
    below `step_tolerance` [rad, m], or the violation's length below `solution_tolerance`, by
    default when all is within the problem's own tolerances. An attempt takes at most
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
        last = local.now.x

        def iterate(x: Array) -> None:
            nonlocal last
            step, last = np.abs(x - last).max(), x.copy()
            if step < self.step_tolerance:
                raise Stopped(ExitFlag.STEP_TOO_SMALL)
            if self._is_flat(local, x):
                raise Stopped(ExitFlag.ERROR_CHANGE_TOO_SMALL)

        return local.ended(local.minimize(
            'L-BFGS-B', Point.violation, iterate=iterate, until_held=True, ftol=0.0, gtol=0.0,
            maxiter=MANY, maxfun=MANY))

    def _is_flat(self, local: LocalDescent, x: Array) -> bool:
        """Return whether the limits leave no gradient at x."""
        point = local.at(x)
        downhill = np.clip(x - point.violation()[1], local.low, local.high) - x
        least = self.gradient_tolerance * min(1.0, float(np.sqrt(point.error)))
        return bool(np.abs(downhill).max() <= least)
