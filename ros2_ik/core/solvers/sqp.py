"""Sequential quadratic programming: hard rows, then costs under them."""

from dataclasses import replace
from functools import cached_property
import math
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.kernels import kernel
from ros2_ik.core.problem import ExitFlag, IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.cost_descent import CostDescent, learns
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.quadratic_program import QuadraticProgram
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver

GIVE_UP_AFTER = 6     # iterations in a row without a drop of the violation
DROP = 0.8
MOST = 100.0          # a larger error damps no more
FAR = 1e4             # bounds this far away from a row's value count as this far


@register_solver('sqp')
class SequentialQuadratic(Solver):
    """
    Gauss-Newton SQP with the limits and the bounds inside the step.

    First the hard rows alone: min 1/2 |dq|^2 + 1/(2 rho) |slack|^2 with lower <= f + J dq + slack
    <= upper, dq within the limits and a trust region [rad, m]; rho = `damping` |violation|^2 +
    1e-9. So a step always exists, and an infeasible problem ends where its violation is least.
    Then, where there are costs, the same with their Gauss-Newton matrix, damped by the gain
    ratio of an L1 merit, with a second-order correction; what constraints and scalar costs bend
    is learnt by a Powell-damped BFGS matrix (Nocedal and Wright, "Numerical Optimization", 18).
    """

    kinds = frozenset(('targets', 'constraints', 'costs', 'scalar costs'))

    def __init__(self, problem: IKProblem, damping: float = 1e-2, trust: float = 0.7,
                 attempt_iterations: int = 40, cost_iterations: int = 60) -> None:
        super().__init__(problem)
        self.damping = positive(damping, 'damping', InvalidOptionError)
        self.trust = positive(trust, 'trust', InvalidOptionError)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.cost_iterations = whole(cost_iterations, 'cost_iterations', InvalidOptionError)
        self.rows = rows = ProblemRows(problem)
        free = problem.free
        self._n = len(free.columns)
        self._vector_space = free.vector_space
        self._reach: Array | float = self.trust
        if not self._vector_space:
            self._reach = self._reaches()
        self._compiled = rows.compiled() if self._vector_space else None

    def _reaches(self) -> Array:
        """How far each free column may move in a step: a floating base's position, anywhere."""
        free = self.problem.free
        reach = np.full(self._n, self.trust)
        floating = [j.velocity_index for j in free.joints if j.kind == 'floating']
        reach[np.isin(free.columns, [first + i for first in floating for i in range(3)])] = FAR
        return reach

    @cached_property
    def _program(self) -> QuadraticProgram:
        return QuadraticProgram(self._n, len(self.rows.lower) - self.rows.equal, 1.0)

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        attempt = self.feasible(start, budget)
        if not (attempt.reached and self.problem.costs):
            return attempt
        if self._vector_space and (arrays := self.rows.compiled_costs()):
            return self._descend_compiled(arrays, attempt, budget)
        return CostDescent(self).descend(attempt, budget)

    def _descend_compiled(self, arrays: tuple[Any, ...], begin: Attempt,
                          budget: Budget) -> Attempt:
        free = self.problem.free
        x, last = begin.q[free.place].copy(), np.empty(self._n)
        stop = budget.interrupted()
        limit = 0 if stop else int(min(self.cost_iterations,
                                       budget.iterations - begin.iterations))
        descend, rest = kernel('cost_descent'), (free.lower, free.upper, self.trust)
        cost, cost_of_last, iterations, flag = descend(x, *arrays, *rest, limit,
                                                       learns(self.problem), last)
        flag = stop or flag
        attempt = self._at(begin, x, cost, begin.iterations + iterations, flag)
        if cost_of_last < cost:      # it has left the hard rows a little: bring it back
            left = replace(budget, iterations=budget.iterations - attempt.iterations)
            back = self.feasible(self._at(begin, last, 0.0, 0, flag).q, left)
            x = back.q[free.place].copy()
            cost_of_last, *_ = descend(x, *arrays, *rest, 0, False, last)
            if back.reached and cost_of_last < cost:
                return self._at(back, x, cost_of_last, attempt.iterations + back.iterations, flag)
        return attempt

    def _at(self, near: Attempt, x: Array, cost: float, iterations: int, flag: int) -> Attempt:
        """Give an attempt whose free values are x (n,), where the hard rows hold."""
        q = near.q.copy()
        q[self.problem.free.place] = x
        return Attempt(q, near.error, iterations, ExitFlag(flag), cost, holds=True)

    def feasible(self, start: Array, budget: Budget) -> Attempt:
        """Go from `start` to where the hard rows hold, or as near as it gets."""
        if self._compiled is not None:
            return self._feasible_compiled(self._compiled, start, budget)
        rows, interrupted = self.rows, budget.interrupted
        tolerance, furthest = rows.tolerance, float(rows.tolerance @ rows.tolerance)
        limit = min(self.attempt_iterations, budget.iterations)
        q, best, best_q, stall, iteration = start, np.inf, start, 0, 0
        while True:
            f, J = rows.hard(q)
            away = rows.outside(f)
            error = float(away @ away)
            if error <= furthest and (np.abs(away) <= tolerance).all():
                return Attempt(q, error, iteration, ExitFlag.CONVERGED)
            stall = 0 if error < DROP * best else stall + 1
            if error < best:
                best, best_q = error, q
            flag = interrupted()
            if iteration >= limit:
                flag = ExitFlag.ITERATION_LIMIT
            elif stall >= GIVE_UP_AFTER:
                flag = ExitFlag.ERROR_CHANGE_TOO_SMALL
            step = None
            if not flag and self._n and math.isfinite(error):
                step = self._step(q, f, J, away, error)
            if step is None:
                return Attempt(best_q, best, iteration, flag or ExitFlag.STEP_TOO_SMALL)
            q = self.moved(q, step)
            iteration += 1

    def _feasible_compiled(self, arrays: tuple[Any, ...], start: Array,
                           budget: Budget) -> Attempt:
        free = self.problem.free
        q, x = start.copy(), start[free.place].copy()
        stop = budget.interrupted()    # else it goes on in one piece, for a fraction of a ms
        limit = 0 if stop else int(min(self.attempt_iterations, budget.iterations))
        error, iterations, flag = kernel('row_descent')(
            x, *arrays, free.lower, free.upper, self.damping, self.trust, limit, GIVE_UP_AFTER,
            DROP)
        q[free.place] = x
        reached = flag == ExitFlag.CONVERGED
        return Attempt(q, error, iterations, stop if stop and not reached else ExitFlag(flag))

    def _step(self, q: Array, f: Array, J: Array, away: Array, error: float) -> Array | None:
        rows, equal = self.rows, self.rows.equal
        lower, upper = self.box(q)
        J_equal, A = J[:equal], J[equal:]
        H = J_equal.T @ J_equal
        H.reshape(-1)[::self._n + 1] += self.damping * min(error, MOST) + 1e-9
        if len(A):
            # no step gets farther, and daqp takes long over huge numbers
            lower = np.concatenate([lower, np.maximum(rows.lower[equal:] - f[equal:], -FAR)])
            upper = np.concatenate([upper, np.minimum(rows.upper[equal:] - f[equal:], FAR)])
            lower, upper = np.minimum(lower, FAR), np.maximum(upper, -FAR)
        found = self._program.solve(H, away[:equal] @ -J_equal, A, lower, upper)
        return None if found is None else found[0]

    def box(self, q: Array) -> tuple[Array, Array]:
        """Give how far each free column may move down and up from q, (n,) each."""
        free = self.problem.free
        if self._vector_space:
            position = q[free.place]
        else:
            position = np.zeros(self.problem.robot.nv)
            for joint in free.joints:
                if joint.size == joint.velocity_size:
                    first = joint.velocity_index
                    position[first:first + joint.size] = q[joint.index:joint.index + joint.size]
            position = position[free.column]
        return (np.minimum(np.maximum(free.lower - position, -self._reach), 0.0),
                np.maximum(np.minimum(free.upper - position, self._reach), 0.0))

    def difference(self, a: Array, b: Array) -> Array:
        """Give the step (n,) of the free columns that leads from a to b."""
        v: Array = pin.difference(self.problem.robot.model, a, b)[self.problem.free.column]
        return v

    def moved(self, q: Array, step: Array) -> Array:
        """Give q moved by a step (n,) of the free columns, within the limits."""
        problem, free = self.problem, self.problem.free
        if self._vector_space:
            result, place = q.copy(), free.place
            position = q[place] + step
            result[place] = np.minimum(np.maximum(position, free.lower), free.upper)
            return result
        v = np.zeros(problem.robot.nv)
        v[free.column] = step
        q = pin.integrate(problem.robot.model, q, v)
        return problem.locked(np.minimum(np.maximum(q, problem.lower), problem.upper))
