"""The joints a problem may move, as arrays."""

from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import UnmovedTipError
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

    def __init__(self, robot: Robot, names: tuple[str, ...], limited: bool = True) -> None:
        self.names = names
        self.joints = tuple(robot.joint(name) for name in names)
        self.indices = _flat((j.index, j.size) for j in self.joints)
        self.columns = _flat((j.velocity_index, j.velocity_size) for j in self.joints)
        self.place, self.column = _as_slice(self.indices), _as_slice(self.columns)
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
    Return the names of the joints that may move: the group's, or all that something depends on.

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


@lru_cache(maxsize=32)
def active_joints(robot: Robot, names: tuple[str, ...], limited: bool = True) -> ActiveJoints:
    """Prepare joints of a robot once for all problems that move them."""
    return ActiveJoints(robot, names, limited)


def _is_angle(joint: Joint, robot: Robot) -> bool:
    """Return whether a full turn of a joint leads to the same place."""
    # a turn of the leader must be a turn of its followers
    whole = all(follower.turns_along for follower in robot.mimics.values()
                if follower.leader == joint.name)
    return joint.is_scalar and joint.rotary and whole


def _flat(ranges: Any) -> Indices:
    return np.array([i for first, size in ranges for i in range(first, first + size)],
                    dtype=np.intp)


def _as_slice(indices: Indices) -> Any:
    if len(indices) and indices[-1] - indices[0] + 1 == len(indices):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices
