"""Pinocchio's closed-loop inverse kinematics example."""

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import all_positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import Screw, screw_to
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag


@register_solver('clik')
class ClosedLoopIK(Solver):
    """
    v = -J' (J J' + damp I)^-1 err;  q <- q (+) v dt, until |err| < eps or `it_max` updates.

    Where err = log6(T_tip_target) and J = -Jlog6(T_target_tip) J_tip. `eps` mixes metres and
    radians; by default it is the example's 1e-4 or the smallest tolerance of the targets,
    whichever is less. Other than in the example, q is brought within the limits after each update.

    Source: https://github.com/stack-of-tasks/pinocchio, examples/inverse-kinematics.py
    """

    def __init__(self, problem: IKProblem, eps: float | None = None, dt: float = 1e-1,
                 damp: float = 1e-12, it_max: int = 1000) -> None:
        super().__init__(problem)
        if eps is None:
            eps = min(1e-4, *(tolerance for target in problem.targets for tolerance in
                              (target.position_tolerance, target.orientation_tolerance)))
        self.eps, self.dt, self.damp = all_positive(InvalidOptionError, eps=eps, dt=dt, damp=damp)
        self.it_max = whole(it_max, 'it_max', InvalidOptionError)
        self.rows = ProblemRows(problem, screw_to)

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Iterate from `start` (nq,)."""
        problem, robot, weights = self.problem, self.problem.robot, self.rows.scale
        q, v = start.copy(), np.zeros(robot.nv)
        limit, iteration = min(self.it_max, budget.iterations), 0
        while True:
            err, J = self._evaluate(q)
            flag = budget.interrupted()
            if np.linalg.norm(err) < self.eps:
                flag = ExitFlag.CONVERGED
            elif iteration >= limit:
                flag = ExitFlag.ITERATION_LIMIT
            if flag:
                return Attempt(problem.locked(q), float(err @ err), iteration, flag)
            J = weights[:, None] * J
            v[problem.active.v_slice] = -J.T @ np.linalg.solve(
                J @ J.T + self.damp * np.eye(len(J)), weights * err)
            q = pin.integrate(robot.model, q, v * self.dt)
            q = np.clip(q, problem.lower, problem.upper)
            iteration += 1

    def _evaluate(self, q: Array) -> tuple[Array, Array]:
        """Return the errors, seen from the targets, and their Jacobian; signs cancel in a step."""
        err, J = self.rows.hard.evaluate(q)
        for function, rows in zip(self.rows.hard.functions, self.rows.hard.rows, strict=True):
            if isinstance(function, Screw):
                J[rows] = pin.Jlog6(pin.exp6(err[rows])) @ J[rows]
        return err[self.rows.rows], J[self.rows.rows]
