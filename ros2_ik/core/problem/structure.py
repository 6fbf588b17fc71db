"""What questions share that differ only in poses and joint values."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Indices
from ros2_ik.core.functions import UserFunction
from ros2_ik.core.problem.active_joints import active_joints, active_names
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import Cost, LeastSquares, ScalarCost
from ros2_ik.core.problem.pose_target import TargetShape
from ros2_ik.core.robot import Robot


class Structure:
    """
    Which joints a question may move, and what follows from that.

    `active` are these joints, `kinds` which of targets, constraints, costs and scalar costs there
    are, `runs_user_code` whether callables of the user's are among its functions and costs.
    Of the targets, those numbered in `to_resolve` are in frames other than the root that stand
    still. `solvers` holds what solvers have prepared for all questions of it, by their names.
    """

    def __init__(self, robot: Robot, targets: tuple[TargetShape, ...], group: str | None,
                 locked: frozenset[str], joint_limits: bool,
                 constraints: Sequence[Constraint] = (), costs: Sequence[Cost] = ()) -> None:
        self._robot, self._constraints, self._costs = robot, constraints, costs
        functions = [*(constraint.function for constraint in constraints), *costs]
        names = active_names(robot, [(target.tip, target.relative_to) for target in targets],
                             functions, group, locked)
        self.active = active_joints(
            robot, tuple(name for name in robot.joint_names if name in names), joint_limits)
        self.to_resolve = frozenset(
            i for i, target in enumerate(targets) if target.relative_to is not None
            and robot.moving_joints(target.relative_to).isdisjoint(self.active.names))
        scalar = sum(isinstance(cost, ScalarCost) for cost in costs)
        self.kinds = frozenset(kind for kind, count in (
            ('targets', len(targets)), ('constraints', len(constraints)),
            ('costs', len(costs) - scalar), ('scalar costs', scalar)) if count)
        self.runs_user_code = scalar > 0 or any(
            isinstance(function, UserFunction) for function in [
                *(constraint.function for constraint in constraints),
                *(cost.function for cost in costs if isinstance(cost, LeastSquares))])
        self.solvers: dict[str, Any] = {}

    @cached_property
    def turnable(self) -> Indices:
        """Places in q of the joints that a full turn within the limits brings to the same."""
        return self._uncounted(self.active.turnable)

    @cached_property
    def angles(self) -> Indices:
        """Places in q of the joints that a full turn brings to the same, limits apart."""
        return self._uncounted(self.active.angles)

    def _uncounted(self, places: Indices) -> Indices:
        """Return the places in q of joints whose turns count for no constraint and no cost."""
        counted: set[str] = set()
        for constraint in self._constraints:
            if not constraint.function.periodic:
                counted |= constraint.function.joints(self._robot)
        for cost in self._costs:
            if not (isinstance(cost, LeastSquares) and cost.function.periodic):
                counted |= cost.joints(self._robot)
        if not counted:
            return places
        return places[~np.isin(places, [self._robot.joint(name).index for name in counted])]


@lru_cache(maxsize=64)
def structure_of_targets(robot: Robot, targets: tuple[TargetShape, ...], group: str | None,
                         locked: frozenset[str], joint_limits: bool) -> Structure:
    """Return the structure of questions about nothing but poses, made once."""
    return Structure(robot, targets, group, locked, joint_limits)
