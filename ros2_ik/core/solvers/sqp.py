"""The solver `sqp`: sequential quadratic programming, for hard rows first, then for costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.kernels.descents import QP_INFINITY
from ros2_ik.core.kernels.sqp import find_feasible, lower_cost
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, Budget, register_solver, Solver
from ros2_ik.core.solvers.starts import draw_starts, Starts
from ros2_ik.core.status import ExitFlag

# damping of phase 1, relative to the squared violation
DAMPING = 1e-2
# constant term of the damping of phase 1
BIAS = 1e-9
# consecutive iterations without progress after which a descent ends
MAX_STALLED_ITERATIONS = 4
# an iteration makes progress if |violation|^2 falls below this fraction of its lowest value
PROGRESS_RATIO = 0.8
# options of phase 1, see `descend_from`: no MATLAB tolerances, steps by quadratic programs
OPTIONS = np.array([DAMPING, BIAS, MAX_STALLED_ITERATIONS, PROGRESS_RATIO, 0.0, 0.0, 1.0])
# largest change of a joint in a step [rad, m]
TRUST = 0.7
# maximum number of iterations of phase 2
COST_ITERATIONS = 60
# number of active columns times number of starts in a batch, about 0.5 ms of work
BATCH_COLUMNS = 56
# number of position columns of a joint with several values; the rotation columns follow
_POSITIONS = {'floating': 3, 'planar': 2}


@register_solver('sqp')
class SequentialQuadratic(Solver):
    """
    Gauss-Newton SQP: the joint limits and the bounds of the rows constrain each quadratic program.

    Phase 1, hard rows alone: each step dq minimizes

        1/2 |dq|^2 + 1/(2 rho) |slack|^2  with  lower <= f + J dq + slack <= upper,

    where q + dq is within the joint limits, |dq| is at most TRUST in each column (except positions
    of planar and floating joints), and rho = DAMPING min(|violation|^2, 100) + 1e-9. The slack
    makes every step feasible; an infeasible problem ends at a local minimum of the violation.
    Phase 1 takes at most `attempt_iterations` steps.

    Phase 2, if there are costs: each step minimizes a quadratic model of the costs with the same
    limits, and a slack of large weight. The model has the Gauss-Newton matrix of the costs and a
    Powell-damped BFGS matrix for the curvature that Gauss-Newton omits (constraints, scalar costs,
    rotations). If a step reduces the L1 merit too little, a second-order correction back to the
    hard rows is tried, then shorter steps (Nocedal and Wright, "Numerical Optimization", ch. 18).
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def __init__(self, problem: IKProblem, attempt_iterations: int = 40) -> None:
        super().__init__(problem)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.rows = ProblemRows(problem)
        self.batch_size = 1 if problem.costs else max(1, BATCH_COLUMNS // max(
            1, len(problem.active.columns)))
        # the trust region depends only on the structure, which many problems share
        cache = problem.structure.solvers
        if 'trust region' not in cache:
            cache['trust region'] = self._trust_region()
        self._step_limits = cache['trust region']
        self._feasible_loop = find_feasible.run
        # compile this loop only if there are costs: compiling is slow
        self._lower_cost: Any = lower_cost.run if problem.costs else None

    def _trust_region(self) -> Array:
        """Return step limits (n,): TRUST, or QP_INFINITY for positions of multi-value joints."""
        active = self.problem.active
        largest = np.full(len(active.columns), TRUST)
        for joint in active.multi_value_joints:
            first = int(np.searchsorted(active.columns, joint.velocity_index))
            largest[first:first + _POSITIONS[joint.kind]] = QP_INFINITY
        return largest

    def find(self, problem: IKProblem, starts: Starts, budget: Budget
             ) -> tuple[Attempt, int, int]:
        """Descend from `starts`, one after another, until the hard rows hold; then lower costs."""
        attempt, used = self._find_feasible(draw_starts(self.problem, starts), budget)
        # without active joints, the cost is constant
        if (attempt.exit_flag is ExitFlag.CONVERGED and self.problem.costs
                and self.problem.active.names):
            attempt = self._minimize_costs(attempt, budget)
        return attempt, used, starts.first + used

    def _find_feasible(self, x: Array, budget: Budget) -> tuple[Attempt, int]:
        """Run phase 1 from starts x (k, n); return best attempt and number of starts used."""
        rows, stop = self.rows, budget.interrupted()
        most = 0 if stop else budget.iterations
        # the loop overwrites x with the ends of the descents
        error, flag, row, iterations, used = rows.hard.run(
            self._feasible_loop, None if stop else budget.interrupted, x, rows.limits,
            self._step_limits, rows.hard_rows, OPTIONS, self.attempt_iterations, most)
        # an interrupted loop returns only INTERRUPTED; the budget has the reason
        if flag != ExitFlag.CONVERGED:
            flag = budget.flag or flag
        return Attempt(self._with_active(x[row]), error, iterations, ExitFlag(flag)), used

    def _with_active(self, x: Array) -> Array:
        """Return q (nq,) with the active values x (n,)."""
        q = self.problem.start.copy()
        q[self.problem.active.q_slice] = x
        return q

    def _minimize_costs(self, begin: Attempt, budget: Budget) -> Attempt:
        """Run phase 2 from an attempt that meets the hard rows."""
        q_slice = self.problem.active.q_slice
        x, last = np.array(begin.q[q_slice]), np.empty(self.rows.limits.shape[1])
        left = budget.iterations - begin.iterations
        stop = budget.interrupted()
        cost, cost_of_last, iterations, flag = self._run_phase_2(
            x, last, 0 if stop else min(COST_ITERATIONS, left),
            None if stop else budget.interrupted)
        flag = budget.flag or flag
        attempt = Attempt(self._with_active(x), begin.error,
                          begin.iterations + iterations, ExitFlag(flag), cost, holds=True)
        # the last iterate, if cheaper, violates the hard rows slightly: correct it by phase 1
        if cost_of_last < cost:
            back, _ = self._find_feasible(last[None], replace(
                budget, iterations=budget.iterations - attempt.iterations))
            x = np.array(back.q[q_slice])
            if back.reached:
                # 0 iterations: only evaluate the cost
                cost_of_back = self._run_phase_2(x, last, 0, None)[0]
                if cost_of_back < cost:
                    return attempt._replace(
                        q=back.q, error=back.error, cost=cost_of_back,
                        iterations=attempt.iterations + back.iterations)
        return attempt

    def _run_phase_2(self, x: Array, last: Array, limit: int,
                     interrupted: Callable[[], object] | None) -> tuple[float, float, int, int]:
        """Run up to `limit` iterations of `lower_cost` from x (n,); overwrites x and `last`."""
        rows = self.rows
        found: tuple[float, float, int, int] = rows.program.run(
            self._lower_cost, interrupted, x, rows.limits, self._step_limits, rows.hard_rows,
            rows.costs, limit, last)
        return found
