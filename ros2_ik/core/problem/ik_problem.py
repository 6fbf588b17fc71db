"""The IK problem: a robot, its active joints, targets, constraints and costs."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import as_list, flag, instance, instances
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.collision.not_checked import COLLISIONS_OFF, not_checked, self_collision_check
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import Cost
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.problem.structure import FunctionUse, JointChangeBound, structure_of
from ros2_ik.core.robot import Configuration, Robot


class IKProblem:
    """
    An IK problem: find joint values that meet `targets` and `constraints`, minimizing `costs`.

    The joints of `group` are active (may move); without a group, all joints that targets,
    constraints or costs depend on. Passive joints and the joints named in `locked` never move.
    Inactive joints keep their values in `start` (joint values as in `Robot.to_q`, default
    `robot.neutral`), even if outside their limits. Active joints stay within their limits unless
    `joint_limits` is False, and within `change_bound` if there is one.

    A solution has no contact that the `checker` (default: one without a scene) finds.
    `collisions=False` allows all contacts. `not_checked` lists the gaps of the collision check.

    `given` are the targets as passed; in `targets`, those relative to a static frame (no active
    joint moves it) are converted to the root frame. `poses` (t, 4, 4) are the poses of `targets`.
    For `kinds` see `Structure`.

    Raises UnknownNameError for an unknown frame, group or joint, InvalidTargetError if a tip
    cannot move, and InvalidConstraintError if there are no targets, constraints or costs.
    """

    def __init__(self, robot: Robot, targets: Sequence[PoseTarget] | PoseTarget = (),
                 group: str | None = None, start: JointValues | None = None,
                 locked: Iterable[str] = (), constraints: Sequence[Constraint] = (),
                 costs: Sequence[Cost] = (), joint_limits: bool = True,
                 checker: CollisionChecker | None = None, collisions: bool = True,
                 change_bound: JointChangeBound | None = None) -> None:
        instance(robot, Robot, 'robot', InvalidOptionError)
        self.robot, self.group = robot, group
        self.joint_limits = flag(joint_limits, 'joint_limits', InvalidOptionError)
        self.collisions = flag(collisions, 'collisions', InvalidOptionError)
        self.checker = self._valid_checker(checker)
        if change_bound is not None:
            instance(change_bound, JointChangeBound, 'change_bound', InvalidOptionError)
        self.locked_joints, self.change_bound = _locked(robot, locked), change_bound
        self._set_terms(
            instances([targets] if isinstance(targets, PoseTarget) else targets, PoseTarget,
                      'targets', InvalidTargetError),
            [item.bind(robot) for item in instances(
                constraints, Constraint, 'constraints', InvalidConstraintError)],
            [item.bind(robot) for item in instances(
                costs, Cost, 'costs', InvalidConstraintError)], robot.to_q(start, what='seed'))

    def _set_terms(self, targets: Sequence[PoseTarget], constraints: Sequence[Constraint],
                   costs: Sequence[Cost], start: Array) -> None:
        """Set start and terms (bound to the robot); the other arguments must have been stored."""
        if not (targets or constraints or costs):
            raise InvalidConstraintError('the problem has neither targets nor constraints nor '
                                         'costs')
        start.setflags(write=False)
        self.given, self.start = tuple(targets), start
        self.constraints, self.costs = tuple(constraints), tuple(costs)
        # unknown or unhashable names raise a clear error here, before they enter a cache key
        for target in targets:
            self.robot.moving_joints(target.tip, target.relative_to)
        if self.group is not None:
            self.robot.group(self.group)
        uses = tuple([
            FunctionUse(term.kind, term.moved_by, term.function.periodic,
                        term.function.is_user_code)
            for term in (*constraints, *costs)])
        self.structure = structure_of(self.robot, tuple([target.shape for target in targets]),
                                      uses, self.group, self.locked_joints, self.joint_limits)
        self.kinds = self.structure.kinds
        self._set_bound(self.change_bound)
        self._resolve_targets()

    def _set_bound(self, bound: JointChangeBound | None) -> None:
        self.change_bound, self.active = bound, self.structure.active
        if bound is not None:
            for joint in self.active.multi_value_joints:
                if bound.most.get(joint.name, math.inf) < math.inf:
                    raise InvalidOptionError(
                        f"max_joint_change cannot bound '{joint.name}', a {joint.kind} joint; "
                        'valid: bounds of the other joints by name')
            self.active = self.active.within(*bound.limits(self.robot))
        self.lower, self.upper = self.active.lower, self.active.upper

    def with_poses(self, poses: Sequence[Pose], start: JointValues | None = None,
                   checker: CollisionChecker | None = None) -> 'IKProblem':
        """
        Return the problem with other target poses, ten times faster than a new IKProblem.

        Each pose is in the frame `relative_to` of its target. `start` and `checker` default to
        those of this problem. Raises InvalidTargetError, InvalidStateError or InvalidOptionError.
        """
        wanted = poses if type(poses) is list else as_list(poses)
        if wanted is None or len(wanted) != len(self.given):
            count = repr(poses) if wanted is None else len(wanted)
            raise InvalidTargetError('target poses must be a list with a pose for each of '
                                     f'{len(self.given)} tips, not {count}')
        problem = self._copy()
        if start is not None:
            problem.start = self.robot.to_q(start, what='seed')
            problem.start.setflags(write=False)
        if checker is not None and checker is not self.checker:
            problem.checker = self._valid_checker(checker)
        problem.given = tuple(map(PoseTarget.at, self.given, wanted))
        problem._resolve_targets()
        return problem

    def with_terms(self, targets: Sequence[PoseTarget], constraints: Sequence[Constraint],
                   costs: Sequence[Cost], start: Array) -> 'IKProblem':
        """Return the problem with `start` (nq,) and terms that are already bound to its robot."""
        problem = self._copy()
        problem._set_terms(targets, constraints, costs, start)
        return problem

    def _copy(self) -> 'IKProblem':
        # copy.copy would take 2 us in each call of `solve_pose`
        problem = object.__new__(IKProblem)
        problem.__dict__ = self.__dict__.copy()
        return problem

    def bounded(self, bound: JointChangeBound | None) -> 'IKProblem':
        """Return the problem with another bound on joint changes, or without a bound (None)."""
        problem = self._copy()
        problem._set_bound(bound)
        return problem

    def relaxed(self) -> 'IKProblem':
        """Return the problem with each `loose` target relaxed to constraints on its errors."""
        loose = [target for target in self.targets if target.loose]
        within = [one for target in loose for one in target.tolerance_constraints()]
        return self.replaced(targets=[target for target in self.targets if target not in loose],
                             constraints=[*self.constraints, *within])

    def widened(self, position: float, orientation: float) -> 'IKProblem':
        """Return the problem with target tolerances raised to at least these values [m], [rad]."""
        return self.replaced(targets=[
            target.replaced(position_tolerance=max(position, target.position_tolerance),
                            orientation_tolerance=max(orientation, target.orientation_tolerance))
            for target in self.targets])

    def approximated(self) -> 'IKProblem':
        """Return the problem with target errors as only costs and tolerances as constraints."""
        within = [one for target in self.targets for one in target.tolerance_constraints()]
        return self.replaced(targets=(), constraints=[*self.constraints, *within],
                             costs=[target.error_cost() for target in self.targets])

    def replaced(self, **arguments: Any) -> 'IKProblem':
        """Return the problem with some arguments replaced; no further joints become active."""
        locked = set(self.robot.joint_names) - set(self.joint_names)
        return IKProblem(self.robot, **{**self.arguments(), 'locked': locked, **arguments})

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Sentences about the collisions that acceptance does not check."""
        if not self.collisions:
            return (COLLISIONS_OFF,)
        return (self_collision_check(self.robot).not_checked if self.checker is None
                else not_checked(self.checker))

    def _valid_checker(self, checker: CollisionChecker | None) -> CollisionChecker | None:
        """Return the checker to use, or None for no checks; raises InvalidOptionError."""
        if not self.collisions:
            if checker is not None:
                raise InvalidOptionError('collisions is False, but there is a checker; valid: '
                                         'only one of them')
            return None
        if checker is not None:
            if not (isinstance(checker, CollisionChecker)
                    and checker.robot.key == self.robot.key):
                raise InvalidOptionError('checker must be a CollisionChecker of the same robot, '
                                         f'not {checker!r}')
            return checker
        # the first call for a robot loads its meshes
        return self_collision_check(self.robot).checker

    def _resolve_targets(self) -> None:
        """Set `targets`, relative to the root frame instead of static frames, and `poses`."""
        self.targets = self.given
        if static := self.structure.static_reference_targets:
            at = Configuration(self.robot, self.start, self.robot.scratch_data())
            self.targets = tuple(target.resolved(at) if i in static else target
                                 for i, target in enumerate(self.given))
        # one target is the usual case: a view takes less time than an array
        self.poses = self.targets[0].transform[None] if len(self.targets) == 1 else np.array(
            [target.transform for target in self.targets]).reshape(-1, 4, 4)

    def arguments(self) -> dict[str, Any]:
        """Return the constructor arguments of this problem, apart from the robot."""
        return {'targets': self.given, 'group': self.group, 'start': self.start,
                'locked': self.locked_joints, 'constraints': self.constraints,
                'costs': self.costs, 'joint_limits': self.joint_limits,
                'checker': self.checker, 'collisions': self.collisions,
                'change_bound': self.change_bound}

    def __reduce__(self) -> tuple[object, ...]:
        return partial(IKProblem, self.robot, **self.arguments()), ()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the active joints, in the robot's order."""
        return self.active.names

    def within_limits(self, q: Array) -> Array:
        """Return q (nq,), with active joints clamped to their limits and others as in `start`."""
        return self.locked(np.minimum(np.maximum(q, self.lower), self.upper))

    def locked(self, q: Array) -> Array:
        """Return q (nq,) with the values of all inactive joints replaced by those in `start`."""
        result = self.start.copy()
        q_slice = self.active.q_slice
        result[q_slice] = q[q_slice]
        return result


def _locked(robot: Robot, names: Iterable[str]) -> frozenset[str]:
    found = as_list(names)
    if found is None or isinstance(names, Mapping):
        raise InvalidOptionError(f'locked must be a list of joint names, not {names!r}: locked '
                                 'joints keep their values in the seed or start')
    return frozenset([robot.joint(name).name for name in found])
