"""Yoshikawa's manipulability of a frame."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision.pair_model import columns_carrying, follower_reduction
from ros2_ik.core.functions.fields import choice, Frame
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Robot

_ROWS = {'all': [0, 1, 2, 3, 4, 5], 'position': [0, 1, 2], 'orientation': [3, 4, 5],
         'xy': [0, 1], 'xz': [0, 2], 'yz': [1, 2]}
_SINGULAR = 1e-12   # ratio of smallest to largest singular value up to which J is singular


@register_function('manipulability')
@dataclass(frozen=True, eq=False)
class Manipulability(KinematicFunction):
    """
    Manipulability of `frame` relative to `relative_to`, (1,): zero at a singularity.

        f = sqrt(det(J J^T))     J: chosen rows of the frame's Jacobian, in the frame's own axes

    `rows` are 'all' (mixed units), 'position' [m], 'orientation' [rad] or, for planar arms, 'xy',
    'xz' or 'yz' [m]. All joints between the two frames count, including a floating base; to
    exclude the base of an arm, measure relative to the shoulder. f is not differentiable at a
    singularity; the returned gradient there is 0, so a descent must not start there. With fewer
    degrees of freedom than rows, f is always 0.

    Yoshikawa, "Manipulability of Robotic Mechanisms", IJRR 1985. Raises InvalidConstraintError for
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
        # twist of each Jacobian column, in the frame's axes and at the frame's origin, (6, n)
        data = at.robot.scratch_data()
        pin.computeJointJacobians(at.robot.model, data, at.q)
        twists = at.placement(self.frame).toActionMatrixInverse() @ data.J.reshape(6, -1)
        # relative Jacobian; `fold` adds the columns of mimic joints to those of their leaders
        J = twists[rows] * chain.signs @ chain.fold
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if s[-1] > _SINGULAR * s[0]:
            # df = sum of the elements of D * dJ, with D = U diag(f / s_i) V^T; f / s_i is finite
            D = np.zeros((6, len(chain.signs)))
            D[rows] = U * (s.prod() / s) @ Vt @ chain.fold.T * chain.signs
            # rate of t_i in the frame's axes for motion along twist t_k: t_k x t_i if column k
            # moves the axis of column i, minus t_k x t_i if column k moves the frame
            moves = chain.carries - chain.moving[:, None]
            rates = [np.vdot(D, pin.Motion(twist).action @ twists * moved)
                     for twist, moved in zip(twists.T, moves, strict=True)]
            gradient[0] = rates @ chain.fold
        return s.prod(keepdims=True), gradient


class _Chain(NamedTuple):
    """
    Roles of the columns of Pinocchio's Jacobian (6, n), for a pair of frames.

    `signs` (n,) is 1 if a column moves only `frame`, -1 if it moves only `relative_to`, else 0;
    `moving` (n,) is 1 if a column moves `frame`. `fold` (n, nv) adds columns of mimic joints to
    those of their leaders; `n_motions` of the resulting columns change the relative pose.
    carries[k, i] (n, n) is 1 if column k moves the axis of column i.
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
    # Pinocchio's joint of each column
    owners = [index for index, joint in enumerate(model.joints) for _ in range(joint.nvExtended)]
    carries = np.array([columns_carrying(robot, index) for index in owners[-len(moving):]]).T
    signs = moving - others
    return _Chain(signs, moving, fold, int(np.count_nonzero(np.abs(signs) @ fold)), carries)
