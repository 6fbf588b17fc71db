"""The joints that a question may move, and what questions share that differ only in numbers."""

from collections.abc import Iterable, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import UnmovedTipError
from ros2_ik.core.problem.pose_target import TargetShape
from ros2_ik.core.robot import Joint, Robot

TURN = 2 * np.pi


class ActiveJoints:
    """
    Some joints of a robot, prepared for fast reading and writing of their values.

    `indices` (n,) are their places in q, `columns` (m,) in the tangent space; `place` and
    `column` the same as a slice where they stand in a row, for a view costs nothing.
    `column_places` (nv,) are the places in q of all columns of the robot. `limits` (2, n) are
    their limits, infinite where limits are off, `lower` and `upper` (nq,) those of all of q.
    `ranges` (4, n) are the limits, and below them the robot's own, to draw from where limits are
    off. `at_rest` are the other places in q, True in `is_locked` (nq,). `others` are the joints of
    more than one value, `vector_space` is True where none is floating. `bases` are the places
    among the active ones where those of floating joints begin. `angles` are the places in q of the
    joints that a full turn brings to the same place, `turning` these numbered among the active
    ones.
    """

    def __init__(self, robot: Robot, names: Sequence[str], limited: bool = True) -> None:
        self.names = tuple(names)
        self.joints = tuple(robot.joint(name) for name in names)
        self.indices = _flat((j.index, j.size) for j in self.joints)
        self.columns = _flat((j.velocity_index, j.velocity_size) for j in self.joints)
        self.place, self.column = as_slice(self.indices), as_slice(self.columns)
        self.column_places = _flat((j.index, j.velocity_size) for j in robot.joints)
        self.others = tuple(joint for joint in self.joints if not joint.is_scalar)
        self.vector_space = all(j.size == j.velocity_size for j in self.joints)
        infinite = np.full(robot.nq, np.inf)
        self.lower, self.upper = (robot.lower, robot.upper) if limited else (-infinite, infinite)
        self.ranges = np.array([bound[self.place] for bound in (
            self.lower, self.upper, robot.lower, robot.upper)])
        self.limits = self.ranges[:2]
        self.is_locked = np.ones(robot.nq, dtype=bool)
        self.is_locked[self.indices] = False
        self.at_rest = np.flatnonzero(self.is_locked)
        self.bases = np.searchsorted(self.indices, np.array(
            [j.index for j in self.others if j.kind == 'floating'], dtype=np.int64))
        self.angles = np.array([j.index for j in self.joints if _is_angle(j, robot)],
                               dtype=np.intp)
        self.turning = np.searchsorted(self.indices, self.angles)

    def within(self, lower: Array, upper: Array) -> 'ActiveJoints':
        """Return the same joints with limits narrowed to `lower` and `upper`, (nq,) each."""
        result = copy(self)
        place = self.place
        result.ranges = np.array([np.maximum(self.limits[0], lower[place]),
                                  np.minimum(self.limits[1], upper[place]), *self.ranges[2:]])
        result.limits = result.ranges[:2]
        result.lower, result.upper = self.lower.copy(), self.upper.copy()
        result.lower[place], result.upper[place] = result.limits
        return result


def active_names(robot: Robot, tips: Iterable[tuple[str, str | None]],
                 joints: Iterable[frozenset[str]], group: str | None,
                 locked: frozenset[str]) -> frozenset[str]:
    """
    Return the joints that may move: the group's, else all that the tips or functions depend on.

    `tips` are to move, each relative to a frame (None: the root), `joints` change functions.
    Neither locked nor, without a group, passive joints move. Raises UnmovedTipError.
    """
    still = robot.passive_joints | locked
    grouped = None if group is None else frozenset(robot.group(group).joint_names) - locked
    used = frozenset[str]()
    for tip, frame in tips:
        moving = robot.moving_joints(tip, frame) - still
        if not (moving if grouped is None else moving & grouped):
            raise UnmovedTipError(tip, frame, group or '')
        used |= moving
    if grouped is not None:
        return grouped
    return used.union(*joints) - still


def _is_angle(joint: Joint, robot: Robot) -> bool:
    """Return whether a full turn of a joint leads to the same place."""
    # a turn of the leader must be a turn of its followers
    whole = all(follower.turns_along for follower in robot.mimics.values()
                if follower.leader == joint.name)
    return joint.is_scalar and joint.rotary and whole


def _flat(ranges: Iterable[tuple[int, int]]) -> Indices:
    return np.array([i for first, size in ranges for i in range(first, first + size)],
                    dtype=np.intp)


def as_slice(indices: Indices) -> slice | Indices:
    """Return indices that stand in a row as a slice: its views cost nothing."""
    if len(indices) and indices[-1] - indices[0] + 1 == len(indices):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


class Use(NamedTuple):
    """A constraint or a cost, as far as a structure depends on it."""

    kind: str
    joints: frozenset[str]
    is_periodic: bool
    is_user_code: bool


class Structure:
    """
    The joints that a question may move, and the frames and functions they move.

    `active` are these joints, `kinds` which of targets, constraints, costs and scalar costs there
    are, `runs_user_code` whether callables of the user's are among its functions and costs.
    Of the targets, those numbered in `to_resolve` are in frames other than the root that stand
    still. `angles` are the indices in q of joints whose full turn changes no function and fits
    into their limits. `solvers` holds what solvers have prepared for all questions of the
    structure, by names of their own.
    """

    def __init__(self, robot: Robot, targets: tuple[TargetShape, ...], uses: tuple[Use, ...],
                 group: str | None, locked: frozenset[str], joint_limits: bool) -> None:
        names = active_names(robot, [(target.tip, target.relative_to) for target in targets],
                             [use.joints for use in uses], group, locked)
        self.active = ActiveJoints(
            robot, tuple(name for name in robot.joint_names if name in names), joint_limits)
        self.to_resolve = frozenset(
            i for i, target in enumerate(targets) if target.relative_to is not None
            and robot.moving_joints(target.relative_to).isdisjoint(self.active.names))
        self.kinds = frozenset([use.kind for use in uses] + ['targets'] * bool(targets))
        self.runs_user_code = any(use.is_user_code for use in uses)
        counted = frozenset[str]().union(*(use.joints for use in uses if not use.is_periodic))
        active, used = self.active, [robot.joint(name).index for name in counted]
        self.angles = np.array([i for i in active.angles if i not in used
                                and active.upper[i] - active.lower[i] >= TURN], dtype=np.intp)
        self.solvers: dict[str, Any] = {}


@lru_cache(maxsize=256)
def structure_of(robot: Robot, targets: tuple[TargetShape, ...], uses: tuple[Use, ...],
                 group: str | None, locked: frozenset[str], joint_limits: bool) -> Structure:
    """Return the structure of questions, made once."""
    return Structure(robot, targets, uses, group, locked, joint_limits)
