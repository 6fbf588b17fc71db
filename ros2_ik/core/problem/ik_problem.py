"""A question: what is wanted, and which joints may move for it."""

from collections.abc import Iterable, Sequence
import copy
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array, Indices, JointValues
from ros2_ik.core.checks import listed
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError, InvalidTargetError
from ros2_ik.core.functions import UserFunction
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import Cost, LeastSquares, ScalarCost
from ros2_ik.core.problem.free_joints import free_joints, free_names
from ros2_ik.core.problem.joint_change import JointChangeBound
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import check_robot, Configuration, Robot
from ros2_ik.core.scene import (
    CollisionChecker,
    COLLISIONS_OFF,
    not_checked,
    own_collisions,
)


class IKProblem:
    """
    What is wanted of a robot's joint values, and the joints that may move for it.

    `targets` and `constraints` must hold, the sum of `costs` should be small. The joints of
    `group` may move; without a group, all that any of these depends on. Passive joints and those
    named in `locked` never do. Joints that do not move stay at their values in `start` (anything
    `Robot.to_q` takes), by default `robot.neutral`, whatever their limits. Moving joints stay
    within their limits unless `joint_limits` is False. With a `change_bound` they stay near its
    origin, too. Nothing that the `checker` checks may touch; by default that is the robot alone,
    as far as it has geometry. `collisions` False allows all contacts. `not_checked` says what is
    not looked at. A target in a frame that only joints at rest move is resolved to the root frame
    here.

    Raises UnknownFrameError, UnknownGroupError, InvalidTargetError when a tip cannot move, or
    InvalidConstraintError when nothing is asked for.
    """

    def __init__(self, robot: Robot, targets: Sequence[PoseTarget] | PoseTarget = (),
                 group: str | None = None, start: JointValues | None = None,
                 locked: Iterable[str] = (), constraints: Sequence[Constraint] = (),
                 costs: Sequence[Cost] = (), joint_limits: bool = True,
                 checker: CollisionChecker | None = None, collisions: bool = True,
                 change_bound: JointChangeBound | None = None) -> None:
        check_robot(robot)
        found = [targets] if isinstance(targets, PoseTarget) else listed(targets)
        names = listed(locked)
        if found is None or not all(isinstance(target, PoseTarget) for target in found):
            raise InvalidTargetError(f'targets must be a list of PoseTarget, not {targets!r}')
        if names is None:
            raise InvalidOptionError(f'locked is a list of joint names, not {locked!r}')
        if not isinstance(joint_limits, (bool, np.bool_)):
            raise InvalidOptionError(f'joint_limits is True or False, not {joint_limits!r}')
        if checker is not None and not (isinstance(checker, CollisionChecker)
                                        and checker.robot.key == robot.key):
            raise InvalidOptionError('checker must be a CollisionChecker of the same robot, not '
                                     f'{checker!r}')
        self.robot, self.group, self.joint_limits = robot, group, bool(joint_limits)
        self.collisions = _collisions(collisions, checker)
        self.checker, self.not_checked = self._check_of(checker)
        self.geometry_notes = () if self.checker is None else self.checker.geometry_notes
        self.constraints = tuple(constraint.bind(robot) for constraint in
                                 _all(constraints, Constraint, 'constraints'))
        self.costs = tuple(cost.bind(robot) for cost in _all(costs, Cost, 'costs'))
        if not (found or self.constraints or self.costs):
            raise InvalidConstraintError('nothing is asked for: neither targets nor constraints '
                                         'nor costs are given')
        self.start = robot.to_q(start)
        self.start.setflags(write=False)
        self.locked_joints = frozenset(robot.joint(name).name for name in names)
        self.free = free_joints(robot, self._free_names(found), self.joint_limits)
        self._set_bound(change_bound)
        self.targets = tuple(self._resolved(target) for target in found)

    def _set_bound(self, bound: JointChangeBound | None) -> None:
        self.change_bound = bound
        if bound is not None:
            self.free = self.free.within(*bound.limits(self.robot))
        self.lower, self.upper = self.free.bounds

    def bounded(self, bound: JointChangeBound | None) -> 'IKProblem':
        """Return the same problem with another bound on the changes of joints, or none."""
        problem = copy.copy(self)
        problem.free = free_joints(self.robot, self.free.names, self.joint_limits)
        problem._set_bound(bound)
        return problem

    def loosened(self) -> 'IKProblem':
        """Return the problem whose constraints are the tolerances of its loose targets."""
        loose = [target for target in self.targets if target.loose]
        bounds = [bound for target in loose for bound in target.bounds()]
        return self.varied(targets=[target for target in self.targets if target not in loose],
                           constraints=[*self.constraints, *bounds])

    def varied(self, **parts: Any) -> 'IKProblem':
        """
        Return the problem with other targets, constraints or costs, for the same joints.

        These may depend on other joints: only those that the question is about may move.
        """
        still = set(self.robot.joint_names) - set(self.joint_names)
        return IKProblem(self.robot, **{**self.question(), 'locked': still, **parts})

    def _check_of(self, checker: CollisionChecker | None
                  ) -> tuple[CollisionChecker | None, tuple[str, ...]]:
        """Return the checker in use, and what is not checked."""
        if not self.collisions:
            return None, (COLLISIONS_OFF,)
        if checker is not None:
            return checker, not_checked(checker)
        own = own_collisions(self.robot)    # loads meshes the first time
        return own.checker, own.not_checked

    def _free_names(self, targets: Sequence[PoseTarget]) -> tuple[str, ...]:
        functions = [*(constraint.function for constraint in self.constraints), *self.costs]
        free = free_names(self.robot, [(target.tip, target.relative_to) for target in targets],
                          functions, self.group, self.locked_joints)
        return tuple(name for name in self.robot.joint_names if name in free)

    def _resolved(self, target: PoseTarget) -> PoseTarget:
        """Restate a target in the root frame where its frame stands still."""
        frame = target.relative_to
        if frame is None or self.robot.moving_joints(frame) & set(self.joint_names):
            return target
        return target.resolved(Configuration(self.robot, self.start, self.robot.scratch_data()))

    @cached_property
    def turnable(self) -> Indices:
        """Places in q of the joints that a full turn within the limits brings to the same."""
        return self._uncounted(self.free.turnable)

    @cached_property
    def angles(self) -> Indices:
        """Places in q of the joints that a full turn brings to the same, limits apart."""
        return self._uncounted(self.free.angles)

    def _uncounted(self, places: Indices) -> Indices:
        """Return the places in q of joints whose turns count for no constraint and no cost."""
        counted: set[str] = set()
        for constraint in self.constraints:
            if not constraint.function.periodic:
                counted |= constraint.function.joints(self.robot)
        for cost in self.costs:
            if not (isinstance(cost, LeastSquares) and cost.function.periodic):
                counted |= cost.joints(self.robot)
        if not counted:
            return places
        return places[~np.isin(places, [self.robot.joint(name).index for name in counted])]

    @cached_property
    def runs_user_code(self) -> bool:
        """Whether callables of the user's are among its functions and costs."""
        functions = [constraint.function for constraint in self.constraints]
        functions += [cost.function for cost in self.costs if isinstance(cost, LeastSquares)]
        return 'scalar costs' in self.kinds or any(
            isinstance(function, UserFunction) for function in functions)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Which of targets, constraints, costs and scalar costs it has."""
        scalar = sum(isinstance(cost, ScalarCost) for cost in self.costs)
        return frozenset(kind for kind, count in (
            ('targets', len(self.targets)), ('constraints', len(self.constraints)),
            ('costs', len(self.costs) - scalar), ('scalar costs', scalar)) if count)

    def question(self) -> dict[str, Any]:
        """Return the arguments that make this problem again, with its robot."""
        return {'targets': self.targets, 'group': self.group, 'start': self.start,
                'locked': self.locked_joints, 'constraints': self.constraints,
                'costs': self.costs, 'joint_limits': self.joint_limits,
                'checker': self.checker, 'collisions': self.collisions,
                'change_bound': self.change_bound}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that may move, in the robot's order."""
        return self.free.names

    def locked(self, q: Array) -> Array:
        """Return q with every joint that may not move put where `start` has it, (nq,)."""
        result = self.start.copy()
        place = self.free.place
        result[place] = q[place]
        return result


def _collisions(value: bool, checker: CollisionChecker | None) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidOptionError(f'collisions is True or False, not {value!r}')
    if not value and checker is not None:
        raise InvalidOptionError('collisions is False, but there is a checker; valid: one of the '
                                 'two')
    return bool(value)


T = TypeVar('T')


def _all(items: Sequence[T], kind: Any, name: str) -> tuple[T, ...]:
    found = listed(items)
    if found is None or not all(isinstance(item, kind) for item in found):
        raise InvalidConstraintError(f'{name} must be a list of {kind.__name__}, not {items!r}')
    return tuple(found)
