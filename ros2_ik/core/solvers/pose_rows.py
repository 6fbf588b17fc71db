"""Error and Jacobian of all targets of a problem, as fast as Python over Pinocchio can."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.problem import IKProblem, PoseTarget

Rows = Callable[[Any], tuple[Array, Array]]   # data -> error (m,), Jacobian (m, nv)


class PoseRows:
    """
    The stacked rows of a problem's targets.

    `evaluate(q)` gives the error e (m,) that a step should undo and J (m, n) for the columns of
    the joints that may move, so that J dq = e is the full step; both times the weights.
    `reached(e)` says whether e is within `share` of the targets' tolerances.
    """

    def __init__(self, problem: IKProblem, share: float = 0.5) -> None:
        self._model = problem.robot.model
        self._scratch = problem.robot.scratch_data    # of the thread that asks
        self._rows = [target_rows(problem, target) for target in problem.targets]
        self._columns = problem.free.column
        self._bounds: list[tuple[slice, float]] = []
        rows = 0
        for target in problem.targets:
            for part, tolerance in ((slice(0, 3), target.position_tolerance),
                                    (slice(3, 6), target.orientation_tolerance)):
                count = 3 if target.whole else int(target.counted[part].sum())
                self._bounds.append((slice(rows, rows + count), (share * tolerance)**2))
                rows += count
        self._nearest = sum(bound for _, bound in self._bounds)
        self._weights = None
        if not all(target.whole for target in problem.targets):
            self._weights = stacked_weights(problem)

    def evaluate(self, q: Array) -> tuple[Array, Array]:
        """Give e (m,) and J (m, n) at q."""
        data = self._scratch()
        pin.computeJointJacobians(self._model, data, q)
        rows = self._rows
        if len(rows) == 1:
            e, J = rows[0](data)
        else:
            parts = [row(data) for row in rows]
            e = np.concatenate([part[0] for part in parts])
            J = np.concatenate([part[1] for part in parts])
        J = J[:, self._columns]
        if self._weights is not None:
            return self._weights * e, self._weights[:, None] * J
        return e, J

    def reached(self, e: Array, squared: float) -> bool:
        """Whether e, whose squared length is given, is within the tolerances."""
        if self._weights is not None:
            e = e / self._weights
        elif squared > self._nearest:
            return False
        return all(e[part] @ e[part] <= bound for part, bound in self._bounds)


def stacked_weights(problem: IKProblem) -> Array:
    """Weights of the counted rows of all targets, the largest 1: damping knows no other scale."""
    weights = np.concatenate([target.weights[target.counted] for target in problem.targets])
    return np.asarray(weights / weights.max())


def target_rows(problem: IKProblem, target: PoseTarget) -> Rows:
    """
    Choose the form of the rows of one target.

    A whole pose in the root frame takes log6, whose steps follow screw motions and need no
    derivative of the logarithm near the target. All else keeps position and orientation apart,
    so that a freed axis can be any way off without disturbing the others.
    """
    model = problem.robot.model
    index = problem.robot.frame_id(target.tip)
    reference = target.function.reference
    if target.relative_to is not None:
        other = problem.robot.frame_id(target.relative_to)
        return _relative_rows(model, index, other, reference, target.counted)
    if target.whole:
        return _whole_pose_rows(model, index, reference)
    return _axis_rows(model, index, reference, target.counted)


def _whole_pose_rows(model: Any, index: int, reference: Any) -> Rows:
    update, jacobian, log6 = pin.updateFramePlacement, pin.getFrameJacobian, pin.log6
    local = pin.ReferenceFrame.LOCAL
    flat = model.nv == 1   # Pinocchio 4.1 then gives shape (6,)

    def rows(data: Any) -> tuple[Array, Array]:
        e = log6(update(model, data, index).actInv(reference)).np
        J = jacobian(model, data, index, local)
        return (e, J.reshape(6, 1)) if flat else (e, J)
    return rows


def _axis_rows(model: Any, index: int, reference: Any, counted: Mask) -> Rows:
    update, jacobian, local = pin.updateFramePlacement, pin.getFrameJacobian, pin.LOCAL
    p_target, R_target = reference.translation, reference.rotation.T.copy()
    selected = np.flatnonzero(counted)

    def rows(data: Any) -> tuple[Array, Array]:
        placement = update(model, data, index)
        R = R_target @ placement.rotation
        J = jacobian(model, data, index, local).reshape(6, -1)
        return _apart(R_target @ (placement.translation - p_target), R, J, selected)
    return rows


def _relative_rows(model: Any, index: int, other: int, reference: Any, counted: Mask) -> Rows:
    update, jacobian, local = pin.updateFramePlacement, pin.getFrameJacobian, pin.LOCAL
    inverse = reference.inverse()
    selected = np.flatnonzero(counted)

    def rows(data: Any) -> tuple[Array, Array]:
        tip = update(model, data, index).copy()
        T_tip_other = tip.actInv(update(model, data, other))
        J = (jacobian(model, data, index, local).reshape(6, -1)
             - T_tip_other.action @ jacobian(model, data, other, local).reshape(6, -1))
        error = inverse * T_tip_other.inverse()
        return _apart(error.translation, error.rotation, J, selected)
    return rows


def _apart(p: Array, R: Array, J: Array, selected: Indices) -> tuple[Array, Array]:
    """Rows for a tip that stands at p, R seen from its target; J is its twist in its own axes."""
    e = np.concatenate([p, pin.log3(R)])
    return -e[selected], np.concatenate([R @ J[:3], pin.Jlog3(R) @ J[3:]])[selected]
