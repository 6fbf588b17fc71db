"""Manipulability of a frame: its distance from singularities."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.functions.fields import choice, Frame
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Robot

_ROWS = {'all': [0, 1, 2, 3, 4, 5], 'position': [0, 1, 2], 'orientation': [3, 4, 5],
         'xy': [0, 1], 'xz': [0, 2], 'yz': [1, 2]}
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])   # of x y z, in a circle
_SINGULAR = 1e-12   # the smallest of the singular values, by the largest: less is rounding


@register_function('manipulability', pink='ManipulabilityTask')
@dataclass(frozen=True, eq=False)
class Manipulability(KinematicFunction):
    """
    Yoshikawa's measure of how well the joints move `frame` relative to `relative_to`, (1,).

        f = sqrt(det(J J^T))     J: the rows chosen of the frame's Jacobian, in its own axes

    `rows` are 'all', 'position' [m], 'orientation' [rad] or, for arms that move in a plane, 'xy',
    'xz' or 'yz' [m] along the frame's own axes; of all rows the unit is mixed. All
    joints between the two frames count, a floating base among them: measure an arm on one
    relative to its shoulder. At a singularity f = 0 is not differentiable; the gradient given
    there is 0, so a descent must not start on one. With fewer joints than rows f = 0 always.

    Yoshikawa: Manipulability of Robotic Mechanisms (1985). Raises InvalidConstraintError for
    unknown rows.
    """

    frame: Frame
    relative_to: Frame | None = None
    rows: Annotated[str, choice(*_ROWS)] = 'all'
    labels = ('manipulability',)
    range = (0.0, np.inf)
    periodic = True

    def joints(self, robot: Robot) -> frozenset[str]:
        return robot.moving_joints(self.frame, self.relative_to)

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        chain = _chain(at.robot, self.frame, self.relative_to)
        gradient, rows = np.zeros((1, at.robot.nv)), _ROWS[self.rows]
        if len(chain.tangent) < len(rows):
            return np.zeros(1), gradient
        twists = _twists(at, self.frame, chain)
        J = twists[rows] * chain.signs @ chain.fold
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if s[-1] > _SINGULAR * s[0]:
            # d sqrt(det(J J^T)) = sum of D * dJ; the quotients s / s_i stay finite
            D = np.zeros((6, len(chain.columns)))
            D[rows] = U * (s.prod() / s) @ Vt @ chain.fold.T * chain.signs
            gradient[0, chain.tangent] = _rates(twists, D, chain) @ chain.fold
        return s.prod(keepdims=True), gradient

    def __str__(self) -> str:
        relative = '' if self.relative_to is None else f" relative to '{self.relative_to}'"
        return f"{self.kind} of '{self.frame}'{relative}"


class _Chain(NamedTuple):
    """
    The joint motions between two frames, n of them; a mimic joint has one of its own.

    `columns` are their places in Pinocchio's extended Jacobian, `signs` -1 for those that carry
    `relative_to`. `fold` (n, t) adds those of leader and followers, `tangent` are the places of
    the sums in the tangent space. carries[k, i]: motion k moves the axis of i; `moving` (n,)
    are 1 for those that move `frame`.
    """

    columns: Indices
    signs: Array
    fold: Array
    tangent: Indices
    carries: Array
    moving: Array


@lru_cache(maxsize=64)
def _chain(robot: Robot, frame: str, relative_to: str | None) -> _Chain:
    model = robot.model
    carriers, others = (set(model.supports[model.frames[index].parentJoint]) - {0} for index in (
        robot.frame_id(frame), 0 if relative_to is None else robot.frame_id(relative_to)))
    axes = [(j, model.joints[j].idx_vExtended + i, model.joints[j].idx_v + i)
            for j in sorted(carriers ^ others) for i in range(model.joints[j].nvExtended)]
    joints, columns, motions = ([axis[part] for axis in axes] for part in range(3))
    tangent = sorted(set(motions))
    moving = np.array([float(j in carriers) for j in joints])
    return _Chain(
        np.array(columns, dtype=np.intp), 2 * moving - 1,
        np.array([[float(motion == t) for t in tangent] for motion in motions]),
        np.array(tangent, dtype=np.intp),
        np.array([[float(k in model.supports[i]) for i in joints] for k in joints]), moving)


def _twists(at: Configuration, frame: str, chain: _Chain) -> Array:
    """Return the frame's twist by each motion, in its own axes, (6, n)."""
    data = at.robot.scratch_data()
    pin.computeJointJacobians(at.robot.model, data, at.q)
    twists: Array = (at.placement(frame).toActionMatrixInverse()
                     @ np.array(data.J).reshape(6, -1)[:, chain.columns])
    return twists


def _rates(twists: Array, D: Array, chain: _Chain) -> Array:
    """
    Return the sum of D * d(twists)/dq_k for each motion k, (n,).

    Seen from the frame, motion k turns the twist (v_i, w_i) of an axis that it carries at the rate
    (w_k x v_i + v_k x w_i, w_k x w_i), and that of any axis at as much back if it moves the frame.
    """
    v, w, force, moment = twists[:3].T, twists[3:].T, D[:3].T, D[3:].T
    products = _cross(np.concatenate([w, v, w]), np.concatenate([force, force, moment]))
    w_force, v_force, w_moment = products.reshape(3, -1, 3)
    powers = np.hstack([w_force, v_force + w_moment])    # of the rates, by (v_k, w_k)
    rates: Array = (twists.T * ((chain.carries - chain.moving[:, None]) @ powers)).sum(axis=1)
    return rates


def _cross(a: Array, b: Array) -> Array:
    """Cross products row by row; numpy's own is five times slower."""
    product: Array = a.take(_NEXT, 1) * b.take(_LAST, 1) - a.take(_LAST, 1) * b.take(_NEXT, 1)
    return product
