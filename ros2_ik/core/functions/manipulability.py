"""Manipulability of a frame: its distance from singularities."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision.jacobian_masks import columns_carrying, follower_reduction
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
    joints between the two frames count, also a floating base: for an arm on such a base, measure
    relative to the shoulder. At a singularity f = 0 is not differentiable; the gradient given
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
        if chain.n_motions < len(rows):
            return np.zeros(1), gradient
        twists = _twists(at, self.frame)
        J = twists[rows] * chain.signs @ chain.fold
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if s[-1] > _SINGULAR * s[0]:
            # d sqrt(det(J J^T)) = sum of D * dJ; the quotients s / s_i stay finite
            D = np.zeros((6, len(chain.signs)))
            D[rows] = U * (s.prod() / s) @ Vt @ chain.fold.T * chain.signs
            gradient[0] = _rates(twists, D, chain) @ chain.fold
        return s.prod(keepdims=True), gradient


class _Chain(NamedTuple):
    """
    Selection of the columns of Pinocchio's Jacobian of all joints (n) between two frames.

    `signs` are 1 where a column moves `frame` alone, -1 where it moves `relative_to` alone;
    `moving` 1 where it moves `frame`. `fold` (n, nv) adds columns of followers to those of their
    leaders; `n_motions` of the sums move one of the frames. carries[k, i]: column k moves the axis
    of column i.
    """

    signs: Array
    moving: Array
    fold: Array
    n_motions: int
    carries: Array


@lru_cache(maxsize=64)
def _chain(robot: Robot, frame: str, relative_to: str | None) -> _Chain:
    model, fold = robot.model, follower_reduction(robot)
    moving, others = (columns_carrying(robot, model.frames[index].parentJoint) for index in (
        robot.frame_id(frame), 0 if relative_to is None else robot.frame_id(relative_to)))
    fold = np.eye(robot.nv) if fold is None else fold
    owners = [index for index, joint in enumerate(model.joints) for _ in range(joint.nvExtended)]
    carries = np.array([columns_carrying(robot, index) for index in owners[-len(moving):]]).T
    signs = moving - others
    return _Chain(signs, moving, fold, int(np.count_nonzero(np.abs(signs) @ fold)), carries)


def _twists(at: Configuration, frame: str) -> Array:
    """Return the frame's twist by each column, in its own axes, (6, n)."""
    data = at.robot.scratch_data()
    pin.computeJointJacobians(at.robot.model, data, at.q)
    twists: Array = (at.placement(frame).toActionMatrixInverse()
                     @ np.array(data.J).reshape(6, -1))
    return twists


def _rates(twists: Array, D: Array, chain: _Chain) -> Array:
    """
    Return the sum of D * d(twists)/dq_k for each column k, (n,).

    Seen from the frame, column k turns the twist (v_i, w_i) of an axis that it carries at the rate
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
