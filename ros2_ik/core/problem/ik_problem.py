"""The question: targets, constraints and costs, and the joints that may move."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import flag, instances, listed
from ros2_ik.core.collision import CollisionChecker, COLLISIONS_OFF, not_checked, own_collisions
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem.constraint import Constraint
from ros2_ik.core.problem.cost import Cost
from ros2_ik.core.problem.joint_change import JointChangeBound
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.problem.structure import Structure, structure_of, Use
from ros2_ik.core.robot import check_robot, Configuration, Robot


class IKProblem:
    """
    Targets, constraints and costs for a robot, and the joints that may move for them.

    `targets` and `constraints` must hold, the sum of `costs` should be small. The joints of
    `group` may move; without a group, all that any of these depends on. Passive joints and those
    named in `locked` never do. Joints that do not move stay at their values in `start` (anything
    `Robot.to_q` takes), by default `robot.neutral`, whatever their limits. Moving joints stay
    within their limits unless `joint_limits` is False. With a `change_bound` they stay near its
    origin, too. Nothing that the `checker` checks may touch; by default that is the robot alone,
    as far as it has geometry. `collisions` False allows all contacts. `not_checked` says what is
    not looked at. A target in a frame that only joints at rest move is resolved to the root frame
    here. For `kinds`, `runs_user_code` and `angles` see `Structure`.

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
        self.robot, self.group = robot, group
        self.joint_limits = flag(joint_limits, 'joint_limits', InvalidOptionError)
        self.collisions = flag(collisions, 'collisions', InvalidOptionError)
        self.checker = self._check_of(checker)
        if not isinstance(change_bound, (JointChangeBound, type(None))):
            raise InvalidOptionError('change_bound must be a JointChangeBound (see its method '
                                     f'of), not {change_bound!r}')
        self.locked_joints, self.change_bound = _locked(robot, locked), change_bound
        self._ask(instances([targets] if isinstance(targets, PoseTarget) else targets,
                            PoseTarget, 'targets', InvalidTargetError),
                  [item.bind(robot) for item in instances(
                      constraints, Constraint, 'constraints', InvalidConstraintError)],
                  [item.bind(robot) for item in instances(
                      costs, Cost, 'costs', InvalidConstraintError)],
                  robot.to_q(start, what='seed'))

    def _ask(self, targets: Sequence[PoseTarget], constraints: Sequence[Constraint],
             costs: Sequence[Cost], start: Array) -> None:
        """Bind the functions to the robot, once all else is set."""
        self._given, self.constraints, self.costs = targets, tuple(constraints), tuple(costs)
        if not (targets or constraints or costs):
            raise InvalidConstraintError('nothing is asked for: neither targets nor constraints '
                                         'nor costs are given')
        start.setflags(write=False)
        self.start, self.structure = start, self._structure()
        self.kinds, self.runs_user_code = self.structure.kinds, self.structure.runs_user_code
        self.angles = self.structure.angles
        self._set_bound(self.change_bound)
        self.targets = self._resolved()

    def _structure(self) -> Structure:
        robot, group = self.robot, self.group
        for target in self._given:    # tells names that are no names before they are looked up
            robot.moving_joints(target.tip, target.relative_to)
        if group is not None:
            robot.group(group)
        uses = tuple([Use(one.kind, one.moved_by, one.function.periodic, one.function.is_user_code)
                      for one in (*self.constraints, *self.costs)])
        return structure_of(robot, tuple([target.shape for target in self._given]), uses, group,
                            self.locked_joints, self.joint_limits)

    def _set_bound(self, bound: JointChangeBound | None) -> None:
        self.change_bound, self.active = bound, self.structure.active
        if bound is not None:
            self.active = self.active.within(*bound.limits(self.robot))
        self.lower, self.upper = self.active.lower, self.active.upper

    def again(self, poses: Sequence[Pose], start: JointValues | None = None,
              checker: CollisionChecker | None = None) -> 'IKProblem':
        """
        Return the same problem with other poses of its targets, as these were given.

        It is made in a tenth of the time: for loops that ask again and again. `start` and
        `checker` stay unless others are given. Raises InvalidTargetError, InvalidStateError or
        InvalidOptionError.
        """
        given = poses if type(poses) is list else listed(poses)
        if given is None or len(given) != len(self._given):
            count = repr(poses) if given is None else len(given)
            raise InvalidTargetError(f'poses: {count}; valid: {len(self._given)}, one for each '
                                     'target')
        problem = self._copy()
        problem._given = [target.at(pose) for target, pose in zip(self._given, given, strict=True)]
        if start is not None:
            problem.start = self.robot.to_q(start, what='seed')
            problem.start.setflags(write=False)
        if checker is not None and checker is not self.checker:
            problem.checker = self._check_of(checker)
        problem.targets = problem._resolved()
        return problem

    def with_parts(self, targets: Sequence[PoseTarget], constraints: Sequence[Constraint],
                   costs: Sequence[Cost], start: Array) -> 'IKProblem':
        """Return the same problem with another start (nq,) and other parts, already bound."""
        problem = self._copy()
        problem._ask(targets, constraints, costs, start)
        return problem

    def _copy(self) -> 'IKProblem':
        problem = object.__new__(IKProblem)   # copy.copy takes 2 us
        problem.__dict__.update(self.__dict__)
        return problem

    def bounded(self, bound: JointChangeBound | None) -> 'IKProblem':
        """Return the same problem with another bound on the changes of joints, or none."""
        problem = self._copy()
        problem._set_bound(bound)
        return problem

    def loosened(self) -> 'IKProblem':
        """Return the problem whose constraints are the tolerances of its loose targets."""
        loose = [target for target in self.targets if target.loose]
        within = [one for target in loose for one in target.tolerance_constraints()]
        return self.varied(targets=[target for target in self.targets if target not in loose],
                           constraints=[*self.constraints, *within])

    def approximated(self, position: float, orientation: float) -> 'IKProblem':
        """Return the problem of the least errors of the targets within these [m], [rad]."""
        wide = [target.varied(position_tolerance=max(position, target.position_tolerance),
                              orientation_tolerance=max(orientation,
                                                        target.orientation_tolerance))
                for target in self.targets]
        within = [one for target in wide for one in target.tolerance_constraints()]
        return self.varied(targets=(), constraints=[*self.constraints, *within],
                           costs=[target.error_cost() for target in wide])

    def varied(self, **parts: Any) -> 'IKProblem':
        """
        Return the problem with other targets, constraints or costs, for the same joints.

        These may depend on other joints: only those that the question is about may move.
        """
        still = set(self.robot.joint_names) - set(self.joint_names)
        return IKProblem(self.robot, **{**self.question(), 'locked': still, **parts})

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Parts of the question that acceptance cannot check, a sentence each."""
        if not self.collisions:
            return (COLLISIONS_OFF,)
        return (own_collisions(self.robot).not_checked if self.checker is None
                else not_checked(self.checker))

    def _check_of(self, checker: CollisionChecker | None) -> CollisionChecker | None:
        """Return the checker in use."""
        if not self.collisions:
            if checker is not None:
                raise InvalidOptionError('collisions is False, but there is a checker; valid: one '
                                         'of the two')
            return None
        if checker is not None:
            if not (isinstance(checker, CollisionChecker)
                    and checker.robot.key == self.robot.key):
                raise InvalidOptionError('checker must be a CollisionChecker of the same robot, '
                                         f'not {checker!r}')
            return checker
        return own_collisions(self.robot).checker    # loads meshes the first time

    def _resolved(self) -> tuple[PoseTarget, ...]:
        """Return the targets, in the root frame where their frames stand still."""
        if not self.structure.to_resolve:
            return tuple(self._given)
        at = Configuration(self.robot, self.start, self.robot.scratch_data())
        return tuple(target.resolved(at) if i in self.structure.to_resolve else target
                     for i, target in enumerate(self._given))

    def question(self) -> dict[str, Any]:
        """Return the arguments that make this problem again, with its robot."""
        return {'targets': tuple(self._given), 'group': self.group, 'start': self.start,
                'locked': self.locked_joints, 'constraints': self.constraints,
                'costs': self.costs, 'joint_limits': self.joint_limits,
                'checker': self.checker, 'collisions': self.collisions,
                'change_bound': self.change_bound}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that may move, in the robot's order."""
        return self.active.names

    def within_limits(self, q: Array) -> Array:
        """Return q (nq,) with moving joints brought within their limits and the others locked."""
        return self.locked(np.minimum(np.maximum(q, self.lower), self.upper))

    def locked(self, q: Array) -> Array:
        """Return q with every joint that may not move put where `start` has it, (nq,)."""
        result = self.start.copy()
        place = self.active.place
        result[place] = q[place]
        return result


def _locked(robot: Robot, names: Iterable[str]) -> frozenset[str]:
    found = listed(names)
    if isinstance(names, Mapping):
        raise InvalidOptionError('locked is a list of joint names, not a mapping: they stay '
                                 f'where the seed or start has them, not at {dict(names)}')
    if found is None:
        raise InvalidOptionError(f'locked is a list of joint names, not {names!r}')
    return frozenset([robot.joint(name).name for name in found])
