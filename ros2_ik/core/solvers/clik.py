"""Pinocchio's closed-loop inverse kinematics example."""

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.solver import Attempt, register_solver, Solver
from ros2_ik.core.status import ExitFlag

FORMS = ('jlog6', 'classic')


@register_solver('clik')
class ClosedLoopIK(Solver):
    """
    v = -J' (J J' + damp I)^-1 err;  q <- q (+) v dt, until |err| < eps or `it_max` updates.

    `form` 'jlog6' is today's example: err = log6(T_tip_target), J = -Jlog6(T_target_tip) J_tip;
    'classic' the one documented with Pinocchio 2: err = log6(T_target_tip), J = J_tip. `eps`
    mixes metres and radians; by default it is the example's 1e-4 or the smallest tolerance of
    the targets, whichever is less. `clamp_limits` brings q within the limits after each update;
    the example knows no limits.

    Source: https://github.com/stack-of-tasks/pinocchio, examples/inverse-kinematics.py
    """

    def __init__(self, problem: IKProblem, eps: float | None = None, dt: float = 1e-1,
                 damp: float = 1e-12, it_max: int = 1000, form: str = 'jlog6',
                 clamp_limits: bool = True) -> None:
        super().__init__(problem)
        if form not in FORMS:
            raise InvalidOptionError(f"form is '{form}'; valid: {', '.join(FORMS)}")
        if eps is None:
            eps = min(1e-4, *(tolerance for target in problem.targets for tolerance in
                              (target.position_tolerance, target.orientation_tolerance)))
        self.eps = positive(eps, 'eps', InvalidOptionError)
        self.dt = positive(dt, 'dt', InvalidOptionError)
        self.damp = positive(damp, 'damp', InvalidOptionError)
        self.it_max = whole(it_max, 'it_max', InvalidOptionError)
        self.form, self.clamp_limits = form, clamp_limits
        # where axes are freed, position and orientation must be kept apart, which log6 does not
        weights = np.concatenate([target.weights[target.counted] for target in problem.targets])
        self._weights = weights / weights.max()

    def attempt(self, start: Array, budget: Budget) -> Attempt:
        """Iterate from `start` (nq,)."""
        robot, columns = self.problem.robot, self.problem.active.column
        q, v = start.copy(), np.zeros(robot.nv)
        limit, iteration = min(self.it_max, budget.iterations), 0
        while True:
            err, J = self._rows(q)
            flag = budget.interrupted()
            if np.linalg.norm(err) < self.eps:
                flag = ExitFlag.CONVERGED
            elif iteration >= limit:
                flag = ExitFlag.ITERATION_LIMIT
            if flag:
                return Attempt(self.problem.locked(q), float(err @ err), iteration, flag)
            J = self._weights[:, None] * J[:, columns]
            v[columns] = -J.T @ np.linalg.solve(J @ J.T + self.damp * np.eye(len(J)),
                                                self._weights * err)
            q = pin.integrate(robot.model, q, v * self.dt)
            if self.clamp_limits:
                q = np.clip(q, self.problem.lower, self.problem.upper)
            iteration += 1

    def _rows(self, q: Array) -> tuple[Array, Array]:
        robot = self.problem.robot
        pin.computeJointJacobians(robot.model, robot.scratch_data(), q)
        parts = [self._target_rows(target, q) for target in self.problem.targets]
        return np.concatenate([e for e, _ in parts]), np.concatenate([J for _, J in parts])

    def _target_rows(self, target: PoseTarget, q: Array) -> tuple[Array, Array]:
        robot, local = self.problem.robot, pin.ReferenceFrame.LOCAL
        data = robot.scratch_data()
        if not target.counted.all():
            e, J = target.function.evaluate(Configuration.of_checked(robot, q, data))
            return e[target.counted], J[target.counted]
        index = robot.frame_id(target.tip)
        placement = pin.updateFramePlacement(robot.model, data, index).copy()
        J = pin.getFrameJacobian(robot.model, data, index, local).reshape(6, -1)
        if target.relative_to is not None:
            other = robot.frame_id(target.relative_to)
            T_other = pin.updateFramePlacement(robot.model, data, other)
            J_other = pin.getFrameJacobian(robot.model, data, other, local).reshape(6, -1)
            J = J - placement.actInv(T_other).action @ J_other
            placement = T_other.actInv(placement)
        T_target_tip = target.function.reference.actInv(placement)
        if self.form == 'classic':
            err = pin.log6(T_target_tip).vector
        else:
            err, J = pin.log6(T_target_tip.inverse()).vector, -pin.Jlog6(T_target_tip) @ J
        return err, J
