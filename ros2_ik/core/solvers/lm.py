"""Levenberg-Marquardt with the joint limits inside the step."""

import math
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.linalg.lapack import dposv

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import ExitFlag, IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.compiled_descent import compiled_descent, Descent
from ros2_ik.core.solvers.pose_rows import PoseRows
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver

GIVE_UP_AFTER = 6      # iterations in a row without a drop; a fast failure beats a long search
DROP = 0.8
MOST = 100.0           # a larger error damps no more: a floating base may be far away
SHARE = 0.5            # of the tolerances is aimed at
BIAS = 1e-10
FIRM = 100.0           # weight of the targets' rows over costs whose curvature is about one
MANY = 10**9           # iterations, where there is no bound
MOVING = 56            # columns of the Jacobians of all starts in turn, half a millisecond's work
FLAT, SHORT = 1e-9, 1e-10    # gradient and step [rad, m] that end the way down the costs


@register_solver('lm')
class LevenbergMarquardt(Solver):
    """
    Damped Gauss-Newton on the pose errors: (J'J + lambda I) dq = J'e.

    lambda = `damping` |e|^2 + `damping_bias`, so it vanishes at the target (Sugihara,
    "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE T-RO
    2011); without `use_error_damping` it is the bias alone. A joint on a limit that the step
    would push outward is held and the step solved again without it.

    Costs (LeastSquares) alone are descended in the same way, to a minimum. With targets: where
    these hold, the costs stacked under the targets' rows lead on, and the last steps are for the
    targets alone. That only leans towards low costs; `sqp` finds their minimum. This part takes
    at most `cost_iterations`, the way to the targets `attempt_iterations`.

    MATLAB's parameters, None for the rules of this library: the way to the targets ends where
    the gradient that the limits leave is below `gradient_tolerance` (times |e| where that is
    below 1), the step below `step_tolerance` [rad, m], the change of |e| below
    `error_change_tolerance` (None: six iterations in a row without a drop of |e|^2 by a fifth),
    or |e| below `solution_tolerance` (None: half the targets' tolerances); the largest weight in
    e is 1. MATLAB has 5e-9, 1e-12, 1e-12, 1e-6, a `damping` of 0.5 and a bias of 0.0025.

    After `load_kernels()` the same runs compiled where it can, an attempt in one piece, but with
    MATLAB's parameters at their defaults only.
    """

    kinds = frozenset(('targets', 'costs'))

    def __init__(self, problem: IKProblem, damping: float = 1e-2, attempt_iterations: int = 40,
                 cost_iterations: int = 100, use_error_damping: bool = True,
                 damping_bias: float = BIAS, gradient_tolerance: float | None = None,
                 step_tolerance: float | None = None, error_change_tolerance: float | None = None,
                 solution_tolerance: float | None = None) -> None:
        super().__init__(problem)
        self.damping = positive(damping, 'damping', InvalidOptionError)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.cost_iterations = whole(cost_iterations, 'cost_iterations', InvalidOptionError)
        if not isinstance(use_error_damping, (bool, np.bool_)):
            raise InvalidOptionError('use_error_damping is True or False, not '
                                     f'{use_error_damping!r}')
        self.use_error_damping = bool(use_error_damping)
        self.damping_bias = positive(damping_bias, 'damping_bias', InvalidOptionError)
        self.gradient_tolerance = _optional(gradient_tolerance, 'gradient_tolerance')
        self.step_tolerance = _optional(step_tolerance, 'step_tolerance')
        self.error_change_tolerance = _optional(error_change_tolerance, 'error_change_tolerance')
        self.solution_tolerance = _optional(solution_tolerance, 'solution_tolerance')
        free = problem.free
        self._place, self._lower, self._upper = free.place, free.lower, free.upper
        self._vector_space = free.vector_space
        self._error_damping = self.damping if self.use_error_damping else 0.0
        self._compiled: Descent | None = None
        if problem.targets:
            self._prepare_targets()
        self._costs = CostDescent(self) if problem.costs else None

    def _prepare_targets(self) -> None:
        self._ruled = any(tolerance is not None for tolerance in (
            self.gradient_tolerance, self.step_tolerance, self.error_change_tolerance))
        self._patience = GIVE_UP_AFTER if self.error_change_tolerance is None else math.inf
        if (self.use_error_damping and self.damping_bias == BIAS and not self._ruled
                and self.solution_tolerance is None):
            self._compiled = compiled_descent(self.problem, self.damping, GIVE_UP_AFTER, DROP,
                                              SHARE)
            columns = len(self.problem.free.columns) * len(self.problem.targets)
            self.at_once = max(1, MOVING // columns)
        if self._compiled is None:
            self._rows = PoseRows(self.problem, SHARE)
            self._reached = self._rows.reached if self.solution_tolerance is None else self._solved

    def _solved(self, e: Array, error: float) -> bool:
        return error < (self.solution_tolerance or 0.0)**2

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        if self._costs is not None:
            return self._costs.descend(start, budget)
        return self.descend(start, budget, budget.iterations)

    def descend(self, start: Array, budget: Budget, limit: float) -> Attempt:
        """Descend from `start` (nq,) to the targets, in at most `limit` iterations."""
        if self._compiled is not None:
            return self._descend_compiled(self._compiled, start[None], budget, limit)[0]
        limit = min(self.attempt_iterations, limit)
        evaluate, reached, step = self._rows.evaluate, self._reached, self.step
        interrupted, ruled, patience = budget.interrupted, self._ruled, self._patience
        damping, bias = self._error_damping, self.damping_bias
        q = last = start.copy()
        before = best = np.inf
        best_q, stall, iteration = q, 0, 0
        while True:
            e, J = evaluate(q)
            error = float(e @ e)
            if reached(e, error):
                return Attempt(q, error, iteration, ExitFlag.CONVERGED)
            stall = 0 if error < DROP * best else stall + 1
            if error < best:
                best, best_q = error, q
            if iteration >= limit:
                return Attempt(best_q, best, iteration, ExitFlag.ITERATION_LIMIT)
            if stall >= patience:
                return Attempt(best_q, best, iteration, ExitFlag.ERROR_CHANGE_TOO_SMALL)
            if flag := interrupted():
                return Attempt(best_q, best, iteration, flag)
            if ruled:
                if flag := self._ended(q, e @ J, error, last, before):
                    return Attempt(best_q, best, iteration, flag)
                last, before = q, error
            q = step(q, e, J, damping * min(error, MOST) + bias)
            iteration += 1

    def attempt_in_turn(self, starts: Array, budget: Budget) -> tuple[Attempt, int]:
        """Descend from one of `starts` (k, nq) after another until a target is reached."""
        if self._compiled is None or self._costs is not None:
            return super().attempt_in_turn(starts, budget)
        return self._descend_compiled(self._compiled, starts, budget, budget.iterations)

    def _descend_compiled(self, descend: Descent, starts: Array, budget: Budget,
                          limit: float) -> tuple[Attempt, int]:
        """Descend in one piece, for a tenth of a millisecond or two; when told to end, look."""
        stop, place = budget.interrupted(), self._place
        values = np.array(starts[:, place], order='C')   # moved in place
        most = 0 if stop else int(min(limit, MANY))
        error, flag, row, iterations, used = descend(values, self.attempt_iterations, most)
        q = starts[row].copy()
        q[place] = values[row]
        reached = flag == ExitFlag.CONVERGED
        flag = stop if stop and not reached else ExitFlag(flag)
        return Attempt(q, error, iterations, flag), used

    def _ended(self, q: Array, g: Array, error: float, last: Array,
               before: float) -> ExitFlag | None:
        """Judge by the tolerances that were given; g is the way down (n,)."""
        least, length = self.gradient_tolerance, math.sqrt(error)
        if least and np.abs(self.downhill(q, g)).max() < least * min(1.0, length):
            return ExitFlag.ERROR_CHANGE_TOO_SMALL
        if before == np.inf:
            return None
        change, step = self.error_change_tolerance, self.step_tolerance
        if step and np.abs(self.difference(last, q)).max() < step:
            return ExitFlag.STEP_TOO_SMALL
        if change and abs(math.sqrt(before) - length) < change:
            return ExitFlag.ERROR_CHANGE_TOO_SMALL
        return None

    def damping_of(self, error: float) -> float:
        """Give lambda for a squared error."""
        return self._error_damping * min(error, MOST) + self.damping_bias

    def difference(self, a: Array, b: Array) -> Array:
        """Give the step (n,) of the free columns that leads from a to b."""
        v: Array = pin.difference(self.problem.robot.model, a, b)[self.problem.free.column]
        return v

    def downhill(self, q: Array, g: Array) -> Array:
        """Give what the limits at q leave of the way down g (n,)."""
        position = self._position(q)
        left: Array = np.minimum(np.maximum(position + g, self._lower), self._upper) - position
        return left

    def step(self, q: Array, e: Array, J: Array, damping: float) -> Array:
        """Move from q by the damped step that the limits leave."""
        A = J.T @ J
        A.reshape(-1)[::len(A) + 1] += damping
        g = e @ J
        if not self._vector_space:
            return self._step_on_manifold(q, A, g)
        result = q.copy()
        result[self._place] = self._within(q[self._place], A, g)
        return result

    def _within(self, position: Array, A: Array, g: Array) -> Array:
        """Give position + dq with A dq = g, clipped; A and g are used up."""
        lower, upper = self._lower, self._upper
        for _ in range(4):
            wanted = position + dposv(A.T, g)[1]
            clipped: Array = np.minimum(np.maximum(wanted, lower), upper)
            off = clipped - wanted
            if not off @ off > 0:
                break
            moved = clipped - position
            held = [i for i, (o, m) in enumerate(zip(off.tolist(), moved.tolist(), strict=True))
                    if o and not m]
            if not held:
                break
            for i in held:                    # the row becomes dq_i = 0
                A[i] = A[:, i] = g[i] = 0.0
                A[i, i] = 1.0
        return clipped

    def _step_on_manifold(self, q: Array, A: Array, g: Array) -> Array:
        """Do the same where a floating joint may move: q is then no vector space."""
        robot = self.problem.robot
        position = self._position(q)
        v = np.zeros(robot.nv)
        v[self.problem.free.column] = self._within(position, A, g) - position
        moved = pin.integrate(robot.model, q, v)
        return self.problem.locked(np.clip(moved, self.problem.lower, self.problem.upper))

    def _position(self, q: Array) -> Array:
        """Give the values of the free joints by columns (n,), 0 where a joint has several."""
        if self._vector_space:
            values: Array = q[self._place]
            return values
        position = np.zeros(self.problem.robot.nv)
        for joint in self.problem.free.joints:
            if joint.size == joint.velocity_size:
                first = joint.velocity_index
                position[first:first + joint.size] = q[joint.index:joint.index + joint.size]
        found: Array = position[self.problem.free.column]
        return found


class CostDescent:
    """Down the costs of a problem of `lm`, with its targets' rows stacked above them."""

    def __init__(self, lm: LevenbergMarquardt) -> None:
        self._lm, self._rows = lm, ProblemRows(lm.problem)

    def descend(self, start: Array, budget: Budget) -> Attempt:
        """Go to the targets first, if there are any, then down the costs along them."""
        if not self._lm.problem.targets:
            q, iterations, flag = self._stacked(start, budget, budget.iterations)
            return Attempt(q, 0.0, iterations, flag, self._cost(q), holds=True)
        first = self._lm.descend(start, budget, budget.iterations)
        if not first.reached:
            return first
        left = budget.iterations - first.iterations
        q, iterations, flag = self._stacked(first.q, budget, left)
        last = self._lm.descend(q, budget, left - iterations)
        end = last if last.reached and self._cost(last.q) < self._cost(first.q) else first
        return Attempt(end.q, end.error, first.iterations + iterations + last.iterations, flag,
                       self._cost(end.q), holds=True)

    def _cost(self, q: Array) -> float:
        r = self._rows.evaluate(q)[2]
        return 0.5 * float(r @ r)

    def _stacked(self, q: Array, budget: Budget, limit: float) -> tuple[Array, int, ExitFlag]:
        """Lower the stacked rows: where that ends, after how many iterations, and why."""
        lm, limit, iteration = self._lm, min(self._lm.cost_iterations, limit), 0
        J_r = self._rows.evaluate(q)[3]
        unit = 1.0 / math.sqrt(max(float(np.sum(J_r * J_r)) / max(1, J_r.shape[1]), 1e-12))
        e, J = self._stack(q, unit)
        error, share = float(e @ e), 1.0
        while np.abs(lm.downhill(q, e @ J)).max(initial=0.0) > (lm.gradient_tolerance or FLAT):
            if flag := budget.interrupted():
                return q, iteration, flag
            if iteration >= limit:
                return q, iteration, ExitFlag.ITERATION_LIMIT
            after = lm.step(q, e, J, max(share * lm.damping_of(error), BIAS))
            step = lm.difference(q, after)
            if np.abs(step).max() < (lm.step_tolerance or SHORT):
                break
            iteration += 1
            e_after, J_after = self._stack(after, unit)
            left, error_after = e - J @ step, float(e_after @ e_after)
            gain = (error - error_after) / max(error - float(left @ left), 1e-300)
            share *= 0.25 if gain > 0.75 else 4.0 if gain < 0.25 else 1.0
            if error_after < error:
                q, e, J, error = after, e_after, J_after, error_after
        return q, iteration, ExitFlag.CONVERGED

    def _stack(self, q: Array, unit: float) -> tuple[Array, Array]:
        """Give e (k,) and J (k, n) of all rows, as `lm` takes them."""
        f, J, r, J_r = self._rows.evaluate(q)
        return (np.concatenate([FIRM * self._rows.outside(f), -unit * r]),
                np.concatenate([FIRM * J, unit * J_r]))


def _optional(value: Any, name: str) -> float | None:
    return None if value is None else positive(value, name, InvalidOptionError)
