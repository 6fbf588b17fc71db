"""Levenberg-Marquardt with the joint limits inside the step."""

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
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver

GIVE_UP_AFTER = 6      # iterations in a row without a drop; a fast failure beats a long search
DROP = 0.8
SHARE = 0.5            # of the tolerances is aimed at


@register_solver('lm')
class LevenbergMarquardt(Solver):
    """
    Damped Gauss-Newton on the pose errors: (J'J + lambda I) dq = J'e.

    lambda = `damping` |e|^2 + 1e-10, so it vanishes at the target (Sugihara, "Solvability-
    unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE T-RO 2011). A joint
    on a limit that the step would push outward is held and the step solved again without it.
    After `load_kernels()` the same runs compiled where it can, an attempt in one piece.
    """

    def __init__(self, problem: IKProblem, damping: float = 1e-2,
                 attempt_iterations: int = 40) -> None:
        super().__init__(problem)
        self.damping = positive(damping, 'damping', InvalidOptionError)
        self.attempt_iterations = whole(attempt_iterations, 'attempt_iterations',
                                        InvalidOptionError)
        self._compiled = compiled_descent(problem, self.damping, GIVE_UP_AFTER, DROP, SHARE)
        if self._compiled is None:
            self._rows = PoseRows(problem, SHARE)
        free = problem.free
        self._place, self._lower, self._upper = free.place, free.lower, free.upper
        self._vector_space = all(joint.size == joint.velocity_size for joint in free.joints)

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Descend from `start` (nq,)."""
        if self._compiled is not None:
            return self._attempt_compiled(self._compiled, start, budget)
        evaluate, reached, step = self._rows.evaluate, self._rows.reached, self._step
        interrupted, limit = budget.interrupted, min(self.attempt_iterations, budget.iterations)
        q = start.copy()
        best, best_q, stall, iteration = np.inf, q, 0, 0
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
            if stall >= GIVE_UP_AFTER:
                return Attempt(best_q, best, iteration, ExitFlag.ERROR_CHANGE_TOO_SMALL)
            if flag := interrupted():
                return Attempt(best_q, best, iteration, flag)
            q = step(q, e, J, error)
            iteration += 1

    def _attempt_compiled(self, descend: Descent, start: Array, budget: Budget) -> Attempt:
        q, x = start.copy(), start[self._place].copy()
        limit = int(min(self.attempt_iterations, budget.iterations))
        error, iterations, flag = descend(x, limit)
        q[self._place] = x
        return Attempt(q, error, iterations, ExitFlag(flag))

    def _step(self, q: Array, e: Array, J: Array, error: float) -> Array:
        """Move from q by the damped step that the limits leave."""
        A = J.T @ J
        A.reshape(-1)[::len(A) + 1] += self.damping * error + 1e-10
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
        robot, free = self.problem.robot, self.problem.free
        position = np.zeros(robot.nv)
        for joint in free.joints:
            if joint.single:
                position[joint.velocity_index] = q[joint.index]
        position = position[free.column]
        v = np.zeros(robot.nv)
        v[free.column] = self._within(position, A, g) - position
        moved = pin.integrate(robot.model, q, v)
        return self.problem.locked(np.clip(moved, self.problem.lower, self.problem.upper))
