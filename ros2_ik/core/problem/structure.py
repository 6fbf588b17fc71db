"""What questions share that differ only in numbers."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.problem.active_joints import active_joints, active_names
from ros2_ik.core.problem.pose_target import TargetShape
from ros2_ik.core.robot import Robot


class Use(NamedTuple):
    """A constraint or a cost, as far as a structure depends on it."""

    kind: str
    joints: frozenset[str]
    is_periodic: bool
    is_user_code: bool


class Structure:
    """
    Which joints a question may move, and what follows from that.

    `active` are these joints, `kinds` which of targets, constraints, costs and scalar costs there
    are, `runs_user_code` whether callables of the user's are among its functions and costs.
    Of the targets, those numbered in `to_resolve` are in frames other than the root that stand
    still. `angles` are the places in q of the joints whose full turn changes nothing, also for
    constraints and costs. `solvers` holds what solvers have prepared for all questions of it, by
    their names.
    """

    def __init__(self, robot: Robot, targets: tuple[TargetShape, ...], uses: tuple[Use, ...],
                 group: str | None, locked: frozenset[str], joint_limits: bool) -> None:
        names = active_names(robot, [(target.tip, target.relative_to) for target in targets],
                             [use.joints for use in uses], group, locked)
        self.active = active_joints(
            robot, tuple(name for name in robot.joint_names if name in names), joint_limits)
        self.to_resolve = frozenset(
            i for i, target in enumerate(targets) if target.relative_to is not None
            and robot.moving_joints(target.relative_to).isdisjoint(self.active.names))
        self.kinds = frozenset([use.kind for use in uses] + ['targets'] * bool(targets))
        self.runs_user_code = any(use.is_user_code for use in uses)
        counted = frozenset[str]().union(*(use.joints for use in uses if not use.is_periodic))
        self.angles = np.setdiff1d(self.active.angles, [robot.joint(name).index
                                                        for name in counted])
        self.solvers: dict[str, Any] = {}


@lru_cache(maxsize=256)
def structure_of(robot: Robot, targets: tuple[TargetShape, ...], uses: tuple[Use, ...],
                 group: str | None, locked: frozenset[str], joint_limits: bool) -> Structure:
    """Return the structure of questions, made once."""
    return Structure(robot, targets, uses, group, locked, joint_limits)
