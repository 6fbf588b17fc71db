"""Levenberg-Marquardt with the joint limits inside the step."""

from dataclasses import dataclass
from functools import cached_property
import math
from typing import Any

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.functions import FramePose, KinematicFunction, RelativeFunction
from ros2_ik.core.kernels.descents import INTERRUPTED, MANY, MOST
from ros2_ik.core.kernels.lm import descend
from ros2_ik.core.kernels.pose_search import find_poses
from ros2_ik.core.kernels.qp import quadratic_program
from ros2_ik.core.kernels.source import formula, is_compiled
from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.robot.tree import twelve
from ros2_ik.core.shallow import shallow
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.parts import Parts
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag

GIVE_UP_AFTER = 6      # iterations in a row without a drop; a fast failure beats a long search
DROP = 0.8
BIAS = 1e-10
HARD_WEIGHT = 100.0           # weight of the targets' rows over costs whose curvature is about one
BATCH, MOVING = 16, 384     # starts of a batch, and columns of all their steps: a millisecond
FLAGS = {int(flag): flag for flag in ExitFlag}
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
    """

    kinds = frozenset(('targets', 'costs'))

    def __init__(self, problem: IKProblem, damping: float = 1e-2, attempt_iterations: int = 40,
                 cost_iterations: int = 100, use_error_damping: bool = True,
                 damping_bias: float = BIAS, gradient_tolerance: float | None = None,
                 step_tolerance: float | None = None, error_change_tolerance: float | None = None,
                 solution_tolerance: float | None = None) -> None:
        super().__init__(problem)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self.cost_iterations = whole(cost_iterations, 'cost_iterations', InvalidOptionError)
        if not isinstance(use_error_damping, (bool, np.bool_)):
            raise InvalidOptionError('use_error_damping is True or False, not '
                                     f'{use_error_damping!r}')
        damping = positive(damping, 'damping', InvalidOptionError)
        self.damping = damping if use_error_damping else 0.0
        self.damping_bias = positive(damping_bias, 'damping_bias', InvalidOptionError)
        self.gradient_tolerance = _optional(gradient_tolerance, 'gradient_tolerance')
        self.step_tolerance = _optional(step_tolerance, 'step_tolerance')
        change = _optional(error_change_tolerance, 'error_change_tolerance')
        solution = _optional(solution_tolerance, 'solution_tolerance')
        self.options = np.array([
            self.damping, self.damping_bias, math.inf if change else GIVE_UP_AFTER, DROP,
            solution, self.gradient_tolerance, self.step_tolerance, change])
        self._rows = ProblemRows(problem, _towards)
        self._parts = Parts.of(self._rows)
        compiled = self._rows.compiled
        self._descend, self._find = descend.of(compiled), find_poses.of(compiled)
        self._costs = CostDescent(self) if problem.costs else None
        self.finds_starts = self._costs is None
        self.batch_size = 1     # plain Python is slow: the deadline is looked at after each start
        if compiled and not self._costs:
            self.batch_size = min(BATCH, max(1, MOVING // max(1, self._parts.columns)))

    def again(self, problem: IKProblem) -> 'LevenbergMarquardt | None':
        if problem.costs or self._rows.compiled != is_compiled():
            return None
        solver = shallow(self)
        solver.problem = problem
        if not self._rows.hard.serves(problem.start):
            solver._parts = Parts.of(solver.rows)
        return solver

    @property
    def rows(self) -> ProblemRows:
        """The rows of the targets, bound when they are read: `find` takes the poses directly."""
        if self._rows.problem is not self.problem:
            self._rows = self._rows.again(self.problem, [
                _towards(target) for target in self.problem.targets])
        return self._rows

    def find(self, starts: Any, budget: Budget) -> tuple[Attempt, int, int]:
        """Descend in one compiled call."""
        problem, active = self.problem, self.problem.active
        q, targets = problem.start.copy(), problem.targets
        poses = targets[0].transform[None] if len(targets) == 1 else np.array(
            [target.transform for target in targets])
        error, flag, iterations, used, following = self._find(
            *self._parts.arrays, poses, starts.seed, active.ranges, active.indices, active.turning,
            self.options, self.attempt_iterations, starts.first, starts.last,
            int(min(budget.iterations, MANY)), starts.state, q)
        return Attempt(q, error, iterations, FLAGS[flag]), used, following

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        if self._costs is not None:
            return self._costs.descend(start, budget)
        return self.descend(start[None], budget, budget.iterations)[0]

    def attempt_in_turn(self, starts: Array, budget: Budget) -> tuple[Attempt, int]:
        """Descend from one of `starts` (k, nq) after another until a target is reached."""
        if self._costs is not None:
            return super().attempt_in_turn(starts, budget)
        return self.descend(starts, budget, budget.iterations)

    def descend(self, starts: Array, budget: Budget, limit: float) -> tuple[Attempt, int]:
        """Descend in one compiled call; if the budget is over, only evaluate the first start."""
        program, place, parts = self.rows.hard, self.problem.active.place, self._parts
        stop = budget.interrupted()
        most = 0 if stop else int(min(limit, MANY))
        values = np.array(starts[:, place], order='C')   # the first is moved in place

        def loop(_numbers: Any, _layout: Any, parameters: Array, addresses: Any) -> Any:
            return self._descend(*parts.asked_by(addresses), parameters, values, self.rows.limits,
                                 self.options, self.attempt_iterations, most)
        error, flag, row, iterations, used = program.run(
            loop, None if stop else budget.interrupted)
        q = starts[row].copy()
        q[place] = values[0]
        if flag == INTERRUPTED:
            flag = program.flag
        elif stop and flag != ExitFlag.CONVERGED:
            flag = stop
        return Attempt(q, error, iterations, ExitFlag(flag)), used

    def damping_of(self, error: float) -> float:
        """Return lambda for a squared error."""
        return self.damping * min(error, MOST) + self.damping_bias


class CostDescent:
    """Down the costs of a problem of `lm`, with its targets' rows stacked above them."""

    def __init__(self, lm: LevenbergMarquardt) -> None:
        self._lm, self._rows = lm, ProblemRows(lm.problem)
        self._least = quadratic_program.of(self._rows.compiled)
        self._none = np.zeros((0, len(lm.problem.active.columns))), np.zeros(0), np.zeros(0)

    def descend(self, start: Array, budget: Budget) -> Attempt:
        """Go to the targets first, if there are any, then down the costs along them."""
        if not self._lm.problem.targets:
            q, iterations, flag = self._stacked(start, budget, budget.iterations)
            return Attempt(q, 0.0, iterations, flag, self._cost(q), holds=True)
        first = self._lm.descend(start[None], budget, budget.iterations)[0]
        if not first.reached:
            return first
        left = budget.iterations - first.iterations
        q, iterations, flag = self._stacked(first.q, budget, left)
        last = self._lm.descend(q[None], budget, left - iterations)[0]
        end = last if last.reached and self._cost(last.q) < self._cost(first.q) else first
        return Attempt(end.q, end.error, first.iterations + iterations + last.iterations, flag,
                       self._cost(end.q), holds=True)

    def _cost(self, q: Array) -> float:
        return self._rows.evaluate(q)[2].total

    def _stacked(self, q: Array, budget: Budget, limit: float) -> tuple[Array, int, ExitFlag]:
        """Lower the stacked rows: where that ends, after how many iterations, and why."""
        lm, limit, iteration = self._lm, min(self._lm.cost_iterations, limit), 0
        J_r = self._rows.evaluate(q)[2].J
        unit = 1.0 / math.sqrt(max(float(np.sum(J_r * J_r)) / max(1, J_r.shape[1]), 1e-12))
        e, J = self._stack(q, unit)
        error, share = float(e @ e), 1.0
        while True:
            low, high = self._rows.program.room(q, np.inf)
            g = e @ J
            downhill = np.minimum(np.maximum(g, low), high)
            if np.abs(downhill).max(initial=0.0) <= (lm.gradient_tolerance or FLAT):
                return q, iteration, ExitFlag.CONVERGED
            if flag := budget.interrupted():
                return q, iteration, flag
            if iteration >= limit:
                return q, iteration, ExitFlag.ITERATION_LIMIT
            step = self._step(J, g, max(share * lm.damping_of(error), BIAS), low, high)
            if np.abs(step).max() < (lm.step_tolerance or SHORT):
                return q, iteration, ExitFlag.CONVERGED
            iteration += 1
            after = self._rows.program.moved(q, step)
            e_after, J_after = self._stack(after, unit)
            left, error_after = e - J @ step, float(e_after @ e_after)
            gain = (error - error_after) / max(error - float(left @ left), 1e-300)
            share *= 0.25 if gain > 0.75 else 4.0 if gain < 0.25 else 1.0
            if error_after < error:
                q, e, J, error = after, e_after, J_after, error_after

    def _step(self, J: Array, g: Array, damping: float, low: Array, high: Array) -> Array:
        n = len(g)
        step, multipliers = np.zeros(n), np.empty(n)
        self._least(J.T @ J + damping * np.eye(n), -g, *self._none, 1.0, low, high, step,
                    multipliers)
        return step

    def _stack(self, q: Array, unit: float) -> tuple[Array, Array]:
        """Return e (k,) and J (k, n) of all rows, as `lm` takes them."""
        f, J, costs = self._rows.evaluate(q)
        return (np.concatenate([HARD_WEIGHT * self._rows.outside(f), -unit * costs.r]),
                np.concatenate([HARD_WEIGHT * J, unit * costs.J]))


@dataclass(frozen=True, eq=False)
class Screw(RelativeFunction):
    """
    The screw motion from a reference pose to a frame, in the frame's axes, (6,).

        f = -log6(T^-1 T*)     with T = T_relative_frame; [m] and [rad]

    Its wrenches are those of the frame's own velocity, right at the reference only: a step by them
    follows the screw, which is a straighter way from afar than position and rotation apart.
    """

    frame: str
    reference: Any
    relative_to: str | None = None
    kind, labels = 'screw', FramePose.labels

    @cached_property
    def parameters(self) -> Array:
        return twelve(self.reference)

    @formula
    def rows(B: Any, A: Any, given: Any, f: Any, W: Any) -> None:
        turned = v.log3(v.product_back(B, v.product(A, v.rotation(given, 0))))
        p = v.origin(B)
        shifted = v.log6(turned, v.seen_from(B, v.point(A, v.vector(given, 9))))
        for i in range(3):
            axis = v.column(B, i)
            f[i], f[3 + i] = -shifted[i], -turned[i]
            v.force(W, i, p, axis)
            v.moment(W, 3 + i, axis)


def _towards(target: PoseTarget) -> KinematicFunction:
    """Return what leads to a target: where axes are freed, position and rotation stay apart."""
    if not target.whole:
        return target.function
    return Screw(target.tip, target.function.reference, target.relative_to)


def _optional(value: Any, name: str) -> float:
    """Return a tolerance, 0 where there is none."""
    return 0.0 if value is None else positive(value, name, InvalidOptionError)
