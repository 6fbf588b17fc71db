"""The active joints of a problem, bounds on their changes, and data that problems share."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import non_negative
from ros2_ik.core.errors import InvalidOptionError, UnknownJointError, UnmovedTipError
from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.problem.pose_target import TargetShape
from ros2_ik.core.robot import Joint, Robot

# fraction by which bounds on joint changes are narrowed, so that rounded values stay within them
ROUNDING_MARGIN = 1e-9


class ActiveJoints:
    """
    The joints that may move, with index arrays and limits precomputed for fast access.

    `indices` (n,) are the indices in q of the values of these joints, the active values; `columns`
    (m,) are the joints' columns in the tangent space. `q_slice` and `v_slice` are `indices` and
    `columns`, as slices if contiguous. `q_of_columns` (nv,) has the index in q of each column of
    the robot's tangent space. `inactive_q_indices` are indices in q of the other joints' values.

    `limits` (2, n) are the lower and upper limits of the active values, `lower` and `upper` (nq,)
    the limits of q; if limits are off, all are infinite until `within` narrows them. `ranges`
    (4, n) are `limits`, then the robot's own limits, within which random starts are always drawn.

    `multi_value_joints` are the planar and floating joints; `floating_starts` are the indices of
    the floating joints' first values among the active values. `angles` are the indices in q of
    the joints whose full turns leave all link poses unchanged.
    """

    def __init__(self, robot: Robot, names: Sequence[str], limited: bool = True) -> None:
        self.names = tuple(names)
        self.joints = tuple(robot.joint(name) for name in names)
        self.indices = _flat((j.index, j.size) for j in self.joints)
        self.columns = _flat((j.velocity_index, j.velocity_size) for j in self.joints)
        self.q_slice, self.v_slice = as_slice(self.indices), as_slice(self.columns)
        self.q_of_columns = _flat((j.index, j.velocity_size) for j in robot.joints)
        self.multi_value_joints = tuple(joint for joint in self.joints if not joint.is_scalar)
        infinite = np.full(robot.nq, np.inf)
        self.lower, self.upper = (robot.lower, robot.upper) if limited else (-infinite, infinite)
        # the limits in force, then the robot's own limits
        self.ranges = np.array([bound[self.q_slice] for bound in (
            self.lower, self.upper, robot.lower, robot.upper)])
        self.limits = self.ranges[:2]
        self.inactive_q_indices = np.setdiff1d(np.arange(robot.nq), self.indices)
        self.floating_starts = np.searchsorted(self.indices, np.array(
            [j.index for j in self.multi_value_joints if j.kind == 'floating'], dtype=np.int64))
        self.angles = np.array([j.index for j in self.joints if _is_angle(j, robot)],
                               dtype=np.intp)

    def within(self, lower: Array, upper: Array) -> 'ActiveJoints':
        """Return the same joints with limits narrowed to `lower` and `upper`, (nq,) each."""
        result = copy(self)
        q_slice = self.q_slice
        result.ranges = np.array([np.maximum(self.limits[0], lower[q_slice]),
                                  np.minimum(self.limits[1], upper[q_slice]), *self.ranges[2:]])
        result.limits = result.ranges[:2]
        result.lower, result.upper = self.lower.copy(), self.upper.copy()
        result.lower[q_slice], result.upper[q_slice] = result.limits
        return result


@dataclass(frozen=True, eq=False)
class JointChangeBound:
    """
    Maximum joint changes `most` [rad, m], by joint name, from the configuration `origin` (nq,).

    Active planar and floating joints cannot be bounded.
    """

    origin: Array
    most: Mapping[str, float]

    @classmethod
    def of(cls, robot: Robot, origin: Array, value: object) -> 'JointChangeBound':
        """
        Return the bound for a value of `max_joint_change`, one number or a mapping by joint name.

        Joints that a mapping omits have no bound. Raises InvalidOptionError or UnknownJointError.
        """
        if not isinstance(value, Mapping):
            value = dict.fromkeys(robot.joint_names, value)
        named_joints('max_joint_change', value, robot)
        return cls(origin, {name: non_negative(
            number, f"max_joint_change of '{name}'", InvalidOptionError, math.inf)
            for name, number in value.items()})

    def limits(self, robot: Robot) -> tuple[Array, Array]:
        """Return lower and upper bounds of q, (nq,) each."""
        most = np.array([self.most.get(joint.name, math.inf) * (1 - ROUNDING_MARGIN)
                         for joint in robot.joints for _ in range(joint.size)])
        return self.origin - most, self.origin + most

    def __str__(self) -> str:
        if len(set(self.most.values())) <= 1:
            return f'{next(iter(self.most.values()), math.inf):g}'
        return ', '.join(f'{name}: {most:g}' for name, most in sorted(self.most.items()))


def named_joints(field: str, names: Iterable[str], robot: Robot) -> frozenset[str]:
    """Return the joints that a field of a request names; UnknownJointError names the field."""
    try:
        return frozenset(robot.joint(name).name for name in names)
    except UnknownJointError as error:
        error.args = (f'{field}: {error}',)
        raise


def active_names(robot: Robot, tips: Iterable[tuple[str, str | None]],
                 joints: Iterable[frozenset[str]], group: str | None,
                 locked: frozenset[str]) -> frozenset[str]:
    """
    Return the names of the active joints, which may move; `locked` and passive joints never move.

    With a group, its joints are active; without a group, the joints that move a tip or change a
    function. `tips` are pairs of a tip and its reference frame (None: the root frame). Each set in
    `joints` has the joints that change one function.
    Raises UnmovedTipError for a tip that no active joint moves.
    """
    immobile = robot.passive_joints | locked
    grouped = None if group is None else frozenset(robot.group(group).joint_names) - locked
    used = frozenset[str]()
    for tip, frame in tips:
        moving = robot.moving_joints(tip, frame) - immobile
        if not (moving if grouped is None else moving & grouped):
            raise UnmovedTipError(tip, frame, group or '')
        used |= moving
    if grouped is not None:
        return grouped
    return used.union(*joints) - immobile


def _is_angle(joint: Joint, robot: Robot) -> bool:
    """Return whether a full turn of a joint leaves the poses of all links unchanged."""
    # a full turn of a leader may leave its mimic joint at another position
    return joint.rotary and all(mimic.leader != joint.name for mimic in robot.mimics.values())


def _flat(ranges: Iterable[tuple[int, int]]) -> Indices:
    return np.array([i for first, size in ranges for i in range(first, first + size)],
                    dtype=np.intp)


def as_slice(indices: Indices) -> slice | Indices:
    """Return contiguous indices as a slice, which makes views instead of copies."""
    if len(indices) and indices[-1] - indices[0] + 1 == len(indices):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


class FunctionUse(NamedTuple):
    """The properties of a constraint or cost that determine a `Structure`."""

    kind: str
    joints: frozenset[str]
    is_periodic: bool
    is_user_code: bool


class Structure:
    """
    Data of problems that differ only in poses, start, bounds, cost weights or function parameters.

    `active` are the active joints. `kinds` is the subset of 'targets', 'constraints', 'costs' and
    'scalar costs' that the problem has. `runs_user_code` is True if a function is a Python
    callable of the user, `is_loose` if a target is `loose`. `static_reference_targets` has the
    indices of targets whose reference frame is static (no active joint moves it) but not the root
    frame. `tips` are the tips of the targets. `chains` are the arrays for the compiled acceptance
    check; `compiled_check_suffices` is True if that check covers all but contacts. `angles` are
    the indices in q of joints whose full turns change neither link poses, constraints nor costs,
    and `full_turn_indices` those whose limits allow a full turn. `solvers` caches data of solvers.
    """

    def __init__(self, robot: Robot, targets: tuple[TargetShape, ...],
                 uses: tuple[FunctionUse, ...],
                 group: str | None, locked: frozenset[str], joint_limits: bool) -> None:
        names = active_names(robot, [(target.tip, target.relative_to) for target in targets],
                             [use.joints for use in uses], group, locked)
        self.active = ActiveJoints(
            robot, tuple(name for name in robot.joint_names if name in names), joint_limits)
        self.static_reference_targets = frozenset(
            i for i, target in enumerate(targets) if target.relative_to is not None
            and robot.moving_joints(target.relative_to).isdisjoint(self.active.names))
        self.kinds = frozenset([use.kind for use in uses] + ['targets'] * bool(targets))
        self.is_loose = any(target.loose for target in targets)
        self.tips = tuple(target.tip for target in targets)
        # with only targets, the compiled check usually covers all but contacts: see _screw_chains
        chains = None if uses else _screw_chains(
            robot, [target._replace(relative_to=None) if i in self.static_reference_targets
                    else target for i, target in enumerate(targets)])
        self.compiled_check_suffices = chains is not None
        self.chains = chains or (np.zeros(0, dtype=np.int64), np.zeros(0))
        self.runs_user_code = any(use.is_user_code for use in uses)
        # the joints of functions that are not periodic: full turns change their values
        counted = frozenset[str]().union(*(use.joints for use in uses if not use.is_periodic))
        active, used = self.active, [robot.joint(name).index for name in counted]
        self.angles = np.array([i for i in active.angles if i not in used], dtype=np.intp)
        self.full_turn_indices = self.angles[(active.upper - active.lower)[self.angles] >= TURN]
        self.solvers: dict[str, Any] = {}


def _screw_chains(robot: Robot, targets: Sequence[TargetShape]) -> tuple[Indices, Array] | None:
    """
    Return the arrays of targets for `kernels.acceptance.check_targets`, from Pinocchio's model.

        T_root_tip(q) = exp(q_k S_k) ... exp(q_1 S_1) T_root_tip(0)

    S_i is the screw axis of joint i at q = 0; joint 1 is nearest the tip. Returns None unless all
    weights are 1, no reference frame moves, and each joint that moves a tip is a scalar joint
    (but not a mimic joint) or a floating base.
    """
    model, data = robot.model, robot.model.createData()
    chains, screws = list[int](), list[Array]()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    for target in targets:
        frame = robot.frame_id(target.tip)
        # from the tip to the root, without Pinocchio's joint 0 (the universe)
        joints = [model.joints[i] for i in model.supports[model.frames[frame].parentJoint]][:0:-1]
        bases = joints[-1:] if robot.root_joint == 'freeflyer' else []
        if target.weights or target.relative_to or any(
                joint.nq != 1 for joint in joints[:len(joints) - len(bases)]):
            return None
        home = pin.updateFramePlacement(model, data, frame)
        # Pinocchio returns (6,) for a robot with one velocity component
        J = pin.getFrameJacobian(model, data, frame, pin.WORLD).reshape(6, -1)
        chains += [len(joints), *(joint.idx_q for joint in joints)]
        if bases:
            chains[-1] = -1 - bases[0].idx_q
        screws += [*(J[:, joint.idx_v] for joint in joints), home.rotation.T.reshape(-1),
                   home.translation,
                   np.array([target.position_tolerance, target.orientation_tolerance])]
    return np.array(chains, dtype=np.int64), np.concatenate(screws)


# `Structure` with a cache: problems with equal arguments share the structure
structure_of = lru_cache(maxsize=256)(Structure)
