"""The solver `clik`: the closed-loop inverse kinematics example of Pinocchio."""

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.lm import screw_to, ScrewError
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, Budget, register_solver, Solver
from ros2_ik.core.status import ExitFlag


@register_solver('clik')
class ClosedLoopIK(Solver):
    """
    Closed-loop inverse kinematics: damped pseudo-inverse steps with a fixed gain.

        v = -J' (J J' + damp I)^-1 err;  q <- q (+) v dt

    with err = log6(T_tip_target) and J = -Jlog6(T_target_tip) J_tip, until |err| < eps or for
    `it_max` updates. |err| mixes metres and radians; the default of `eps` is 1e-4, as in the
    example, or the smallest tolerance of the targets if that is smaller. Unlike the example, this
    solver weights the rows of err and J in v (see `screw_to`), and clamps each q to the limits.

    Source: https://github.com/stack-of-tasks/pinocchio, examples/inverse-kinematics.py
    """

    def __init__(self, problem: IKProblem, eps: float | None = None, dt: float = 1e-1,
                 damp: float = 1e-12, it_max: int = 1000) -> None:
        super().__init__(problem)
        if eps is None:
            eps = min(1e-4, *(tolerance for target in problem.targets for tolerance in
                              (target.position_tolerance, target.orientation_tolerance)))
        self.eps, self.dt, self.damp = (
            positive(value, name, InvalidOptionError)
            for value, name in ((eps, 'eps'), (dt, 'dt'), (damp, 'damp')))
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
            # damped least-squares step on the weighted rows
            J = weights[:, None] * J
            v[problem.active.v_slice] = -J.T @ np.linalg.solve(
                J @ J.T + self.damp * np.eye(len(J)), weights * err)
            q = pin.integrate(robot.model, q, v * self.dt)
            q = np.clip(q, problem.lower, problem.upper)
            iteration += 1

    def _evaluate(self, q: Array) -> tuple[Array, Array]:
        """Return -err and -J of the class docstring; the two signs cancel in the step."""
        err, J = self.rows.hard.evaluate(q)
        # `ScrewError` returns the body Jacobian: Jlog6 converts it to the logarithm's derivative
        for function, rows in zip(self.rows.hard.functions, self.rows.hard.rows, strict=True):
            if isinstance(function, ScrewError):
                J[rows] = pin.Jlog6(pin.exp6(err[rows])) @ J[rows]
        return err[self.rows.rows], J[self.rows.rows]
