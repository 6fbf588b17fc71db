"""Sequential quadratic programming: hard rows, then costs under them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import all_positive, all_whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.kernels.descents import MANY
from ros2_ik.core.kernels.sqp import FAR, hold, lower_cost
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.solvers.starts import draw_starts, Starts
from ros2_ik.core.status import ExitFlag

GIVE_UP_AFTER = 4     # iterations in a row without a drop of the violation
DROP = 0.8
MOVING = 56           # Jacobian columns of a batch of starts together, about 0.5 ms of work
_POSITIONS = {'floating': 3, 'planar': 2}   # columns, the first ones, of a base's position


@register_solver('sqp')
class SequentialQuadratic(Solver):
    """
    Gauss-Newton SQP with the limits and the bounds inside the step.

    First the hard rows alone: min 1/2 |dq|^2 + 1/(2 rho) |slack|^2 with lower <= f + J dq + slack
    <= upper, dq within the limits and a trust region [rad, m]; rho = `damping` |violation|^2 +
    1e-9. So a step always exists, and an infeasible problem ends where its violation is least.
    Then, where there are costs, the same with their Gauss-Newton matrix and a Powell-damped BFGS
    matrix that learns what this leaves out, the curvature of constraints, scalar costs and
    rotations; a step that gains too little of an L1 merit is led back onto the rows by a
    second-order correction, then shortened (Nocedal and Wright, "Numerical Optimization", 18).
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def __init__(self, problem: IKProblem, damping: float = 1e-2, trust: float = 0.7,
                 attempt_iterations: int = 40, cost_iterations: int = 60) -> None:
        super().__init__(problem)
        self.damping, self.trust = all_positive(InvalidOptionError, damping=damping, trust=trust)
        self.attempt_iterations, self.cost_iterations = all_whole(
            InvalidOptionError, attempt_iterations=attempt_iterations,
            cost_iterations=cost_iterations)
        self.rows = ProblemRows(problem)
        self._place = problem.active.q_slice
        self.batch_size = 1 if problem.costs else max(1, MOVING // max(
            1, len(problem.active.columns)))
        self._farthest = self._reach()
        self._hold = hold.run
        # compiled only where it is needed
        self._lower_cost: Any = lower_cost.run if problem.costs else None

    def _reach(self) -> Array:
        """Largest step of each active column; the position of a base is unbounded."""
        active = self.problem.active
        reach = np.full(len(active.columns), self.trust)
        for joint in active.multi_value_joints:
            first = int(np.searchsorted(active.columns, joint.velocity_index))
            reach[first:first + _POSITIONS[joint.kind]] = FAR
        return reach

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        return self._in_turn(start[None], budget)[0]

    def find(self, problem: IKProblem, starts: Starts, budget: Budget
             ) -> tuple[Attempt, int, int]:
        """Descend from one of `starts` after another until the hard rows hold."""
        attempt, used = self._in_turn(draw_starts(self.problem, starts), budget)
        return attempt, used, starts.first + used

    def _in_turn(self, starts: Array, budget: Budget) -> tuple[Attempt, int]:
        attempt, used = self._feasible(starts, budget)
        if attempt.exit_flag is ExitFlag.CONVERGED and self.problem.costs:
            attempt = self._cheaper(attempt, budget)
        return attempt, used

    def _feasible(self, starts: Array, budget: Budget) -> tuple[Attempt, int]:
        """Go from one of `starts` (k, nq) to where the hard rows hold, or as near as it gets."""
        rows, stop = self.rows, budget.interrupted()
        most = 0 if stop else int(min(budget.iterations, MANY))
        x = np.array(starts[:, self._place], order='C')    # moved in place
        error, flag, row, iterations, used = rows.hard.run(
            self._hold, None if stop else budget.interrupted, x, rows.limits, rows.rows,
            rows.bounds, self._farthest, self.damping, self.attempt_iterations, GIVE_UP_AFTER,
            DROP, most)
        if flag != ExitFlag.CONVERGED:
            flag = budget.flag or flag
        return Attempt(self._at(starts[row], x[row]), error, iterations, ExitFlag(flag)), used

    def _at(self, near: Array, x: Array) -> Array:
        q = near.copy()
        q[self._place] = x
        return q

    def _cheaper(self, begin: Attempt, budget: Budget) -> Attempt:
        """Lower the costs from where the hard rows hold."""
        x, last = np.array(begin.q[self._place]), np.empty(self.rows.limits.shape[1])
        left = budget.iterations - begin.iterations
        stop = budget.interrupted()
        cost, cost_of_last, iterations, flag = self._descend(
            x, last, 0 if stop else int(min(self.cost_iterations, left)),
            None if stop else budget.interrupted)
        flag = budget.flag or flag
        attempt = Attempt(self._at(begin.q, x), begin.error, begin.iterations + iterations,
                          ExitFlag(flag), cost, holds=True)
        if cost_of_last < cost:      # it has left the hard rows a little: bring it back
            back, _ = self._feasible(self._at(begin.q, last)[None], replace(
                budget, iterations=budget.iterations - attempt.iterations))
            x = np.array(back.q[self._place])
            if back.reached:
                cost_of_back = self._descend(x, last, 0, None)[0]
                if cost_of_back < cost:
                    return attempt._replace(
                        q=back.q, error=back.error, cost=cost_of_back,
                        iterations=attempt.iterations + back.iterations)
        return attempt

    def _descend(self, x: Array, last: Array, limit: int,
                 interrupted: Callable[[], object] | None) -> tuple[float, float, int, int]:
        rows = self.rows
        found: tuple[float, float, int, int] = rows.program.run(
            self._lower_cost, interrupted, x, rows.limits, rows.rows, rows.bounds, *rows.costs,
            self._farthest, limit, last)
        return found
