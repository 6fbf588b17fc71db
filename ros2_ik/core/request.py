"""Requests for joint values, and the search that answers one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations
import math
from typing import Any, NamedTuple, Protocol, TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import instances
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import (
    AmbiguousTipError,
    IKError,
    InvalidConstraintError,
    InvalidOptionError,
    InvalidTargetError,
    UnknownJointError,
)
from ros2_ik.core.functions import JointCoupling, JointPositions, KinematicFunction, PairDistance
from ros2_ik.core.problem import (
    Constraint,
    Cost,
    IKProblem,
    JointChangeBound,
    LeastSquares,
    ORIENTATION_TOLERANCE,
    PoseTarget,
    POSITION_TOLERANCE,
)
from ros2_ik.core.problem.structure import active_names
from ros2_ik.core.robot import Configuration, Robot, shipped_robots
from ros2_ik.core.solvers import Search, SolveOptions

if TYPE_CHECKING:
    import pinocchio as pin

__all__ = ['BoundRequest', 'Defaults', 'IKRequest', 'StaticWorld', 'World', 'bind_request',
           'default_group', 'default_tip', 'group_tips', 'prepare']
Joints = frozenset[str]
USUAL = SolveOptions()


@dataclass(frozen=True)
class Defaults:
    """
    Values for what requests leave open, and upper limits.

    The node has parameters of these names, which say what they mean; these are their defaults
    where no limit is needed.
    """

    default_group: str = ''
    default_tip: str = ''
    default_timeout: float = USUAL.timeout
    max_timeout: float = math.inf
    position_tolerance: float = POSITION_TOLERANCE
    orientation_tolerance: float = ORIENTATION_TOLERANCE
    default_solver: str = USUAL.solver
    default_select: str = USUAL.select
    max_solutions: float = math.inf
    random_state: int = 0
    max_jump: float = 0.0


@dataclass(frozen=True)
class IKRequest:
    """
    A question for joint values: `targets`, `constraints` and `costs`, and who may move for them.

    `group` names the joints that may move; '' stands for `default_group` if that one can do what
    is wanted, else for the joints that the question depends on. Of these only the
    `moving_joints` move, if any are named, and none of the `locked_joints`; a free base only if
    its group is named. A target in a frame that moves holds relative to that frame in the
    solution, or, if `follow_frames` is False, where the frame stands at the start.

    The `seed` is where the search starts, by joint name; the `World` completes it. The
    `max_joint_change` of the `options` bounds the changes from there, `max_jump` those from where
    the robot stands. With `avoid_collisions` a solution touches nothing that the world has.

    Tips and frames are names of the robot's frames, of `frames` that this request adds, such as a
    tool (see `Robot.with_frames`), and of objects and subframes of the world's scene.
    """

    targets: Sequence[PoseTarget] = ()
    constraints: Sequence[Constraint] = ()
    costs: Sequence[Cost] = ()
    follow_frames: bool = True
    group: str = ''
    default_group: str = ''
    moving_joints: Iterable[str] = ()
    locked_joints: Iterable[str] = ()
    seed: Mapping[str, float | Array] = field(default_factory=dict)
    more_seeds: Sequence[Mapping[str, float | Array]] = ()
    avoid_collisions: bool = True
    max_jump: Any = None
    options: SolveOptions = field(default_factory=SolveOptions)
    frames: 'Mapping[str, tuple[str | None, pin.SE3]]' = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise InvalidTargetError, InvalidConstraintError or InvalidOptionError."""
        for name, kind, error in _LISTS:
            items = tuple(instances(getattr(self, name), kind, name, error))
            object.__setattr__(self, name, items)
        for name, kinds, wanted in _SINGLE:
            if not isinstance(value := getattr(self, name), kinds):
                raise InvalidOptionError(f'{name} must be {wanted}, not {value!r}')


_LISTS: tuple[tuple[str, type, type[IKError]], ...] = (
    ('targets', PoseTarget, InvalidTargetError),
    ('constraints', Constraint, InvalidConstraintError), ('costs', Cost, InvalidConstraintError),
    ('moving_joints', str, InvalidOptionError), ('locked_joints', str, InvalidOptionError),
    ('more_seeds', Mapping, InvalidOptionError))
_SINGLE: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    *((name, str, 'a name') for name in ('group', 'default_group')),
    *((name, (bool, np.bool_), 'True or False') for name in ('follow_frames', 'avoid_collisions')),
    *((name, Mapping, 'a mapping from names') for name in ('seed', 'frames')),
    ('options', SolveOptions, 'SolveOptions'))


class World(Protocol):
    """The robot's state and its surroundings."""

    @property
    def robot(self) -> Robot:
        """The robot that is asked about."""

    @property
    def checker(self) -> CollisionChecker | None:
        """The collision checker; None without a scene: then the robot is alone."""

    def start(self, request: IKRequest, active: Joints, needed: Joints, checked: Joints) -> Array:
        """
        Complete the request's seed, (nq,).

        The solution depends on where `needed` joints are; what is `checked` for contacts, on the
        others; for `active` ones it only says where the search starts. Raises IKError where one is
        not known well enough.
        """

    def standing(self, request: IKRequest, start: Array) -> Array:
        """Return where the robot stands, (nq,), in the turns of the start."""


@dataclass(frozen=True)
class StaticWorld:
    """A world in which nothing moves: all joints are known, `at` (nq,) or by name."""

    robot: Robot
    at: JointValues | None = None
    checker: CollisionChecker | None = None

    def start(self, request: IKRequest, active: Joints, needed: Joints, checked: Joints) -> Array:
        return self.robot.to_q(request.seed, self.robot.to_q(self.at), 'seed')

    def standing(self, request: IKRequest, start: Array) -> Array:
        return self.robot.to_q(self.at)


class BoundRequest(NamedTuple):
    """A request, its problem, and the joints that `World.start` is asked for."""

    request: IKRequest
    problem: IKProblem
    joints: tuple[Joints, Joints, Joints]

    @property
    def can_rebind(self) -> bool:
        """True if other poses and another seed leave the rest of the problem as it is."""
        request = self.request
        return not request.more_seeds and request.max_jump is None and (
            request.follow_frames or all(target.relative_to is None for target in request.targets))

    def rebind(self, poses: Sequence[Pose], seed: Mapping[str, float | Array],
               world: World) -> 'BoundRequest':
        """Return the request with other poses and another seed, in a world of the same checker."""
        request = copy(self.request)
        request.__dict__['seed'] = seed
        problem = self.problem.again(poses, world.start(request, *self.joints))
        request.__dict__['targets'] = problem.targets
        return BoundRequest(request, problem, self.joints)

    def search(self) -> Search:
        """Make the search for an answer."""
        more: list[JointValues] = list(self.request.more_seeds)
        return Search(self.problem, [self.problem.start, *more] if more else None,
                      options=self.request.options)


def prepare(request: IKRequest, world: World) -> Search:
    """Make the search that answers a request; raises IKError for what makes no sense."""
    return bind_request(request, world).search()


def bind_request(request: IKRequest, world: World) -> BoundRequest:
    """Make the problem of a request; raises IKError for what makes no sense."""
    robot, checker = world.robot, world.checker
    if checker is not None:
        robot = checker.scene.framed_robot(_frames(request), robot)
    robot = robot.with_frames(request.frames)
    group = chosen_group(request, robot)
    locked = _locked(request, robot, group)
    active = active_names(
        robot, [(target.tip, target.relative_to if request.follow_frames else None)
                for target in request.targets],
        [*(constraint.function.joints(robot) for constraint in request.constraints),
         *(cost.joints(robot) for cost in request.costs)],
        group or None, locked)
    checked = checker.moving_joints - active if checker else frozenset[str]()
    joints = active, needed_names(request, robot, active), checked
    start = world.start(request, *joints)
    targets = request.targets
    if not request.follow_frames:
        at = Configuration(robot, start, robot.scratch_data())
        targets = [target.resolved(at) for target in targets]
    touches = checker if request.avoid_collisions else None   # distances keep theirs
    problem = IKProblem(
        robot, targets, group or None, start, locked,
        request.constraints, request.costs, checker=touches,
        collisions=touches is not None)    # without a checker the world has nothing to touch
    if request.max_jump is not None:
        problem = problem.bounded(JointChangeBound.of(robot, world.standing(request, start),
                                                      request.max_jump))
    return BoundRequest(request, problem, joints)


# -- who may move, and who must be known ----------------------------------------------------

def chosen_group(request: IKRequest, robot: Robot) -> str:
    """
    Return the group that moves; '' stands for the joints that the question depends on.

    The default one moves if it moves each tip and frame that is named, any two tips against each
    other that joints move so, and has each joint that is named; a hard constraint on joints that
    names none is about all of them.
    """
    group = request.group or ('' if request.moving_joints else request.default_group)
    if request.group or not group:
        return group
    joints = frozenset(robot.group(group).joint_names)
    serves = all(joints & movers for movers in _movers(request, robot) if movers)
    return group if serves else ''


def _movers(request: IKRequest, robot: Robot) -> Iterator[frozenset[str]]:
    """Yield sets of joints, of each of which a group must have one."""
    still = robot.passive_joints | {robot.base_joint}    # only a group moves these that is named
    tips = [target.tip for target in request.targets]
    yield from map(robot.moving_joints, tips)
    for pair in combinations(tips, 2):
        yield robot.moving_joints(*pair) - robot.passive_joints
    for item in (*request.constraints, *request.costs):
        if isinstance(item, (Constraint, LeastSquares)):
            spec, joints = item.function.spec, item.function.joints(robot) - still
            yield joints
            if isinstance(spec, (JointPositions, JointCoupling)) and (
                    spec.names is not None or isinstance(item, Constraint)):
                yield from (frozenset([joint]) for joint in joints)
            for body in _bodies(item.function, robot):
                yield robot.moving_joints(body) - still


def _frames(request: IKRequest) -> list[str]:
    """Return the names of frames that a request refers to but does not add itself."""
    names = [name for target in request.targets for name in (target.tip, target.relative_to)]
    names += [getattr(item.function, field, None) for field in ('frame', 'relative_to')
              for item in (*request.constraints, *request.costs)]
    names += [name for at in request.frames.values() if isinstance(at, tuple) for name in at[:1]]
    return [name for name in names if isinstance(name, str) and name not in request.frames]


def needed_names(request: IKRequest, robot: Robot, active: Joints) -> Joints:
    """Names of the joints without whose start values the question has no definite meaning."""
    needed = frozenset[str]()
    for target in request.targets:
        needed |= robot.moving_joints(target.tip, target.relative_to) - active
        if target.relative_to and not request.follow_frames:
            needed |= robot.moving_joints(target.relative_to) & active
    functions = [constraint.function for constraint in request.constraints]
    functions += [cost.function for cost in request.costs     # there each joint is by itself
                  if isinstance(cost, LeastSquares)
                  and not isinstance(cost.function.spec, JointPositions)]
    for function in functions:
        if not hasattr(function, 'checker'):   # those are for what is checked
            needed |= function.joints(robot) - active
    return needed


def _locked(request: IKRequest, robot: Robot, group: str) -> Joints:
    base = robot.base_joint
    still = frozenset({base} if base and not group else ())
    moving, locked = (_named(robot, getattr(request, field), field)
                      for field in ('moving_joints', 'locked_joints'))
    if moving:
        still |= frozenset(robot.joint_names) - moving
    return still | locked


def _named(robot: Robot, names: Iterable[str], field: str) -> Joints:
    try:
        return frozenset(robot.joint(name).name for name in names)
    except UnknownJointError as error:
        raise InvalidOptionError(f'{field}: {error}') from None


def _bodies(function: KinematicFunction, robot: Robot) -> Iterator[str]:
    """Return frames and links that a function names; for held objects, their link."""
    if isinstance(function, PairDistance):
        ends = map(function.checker.scene.link_of, (function.first, function.second))
        yield from (end for end in ends if end is not None)
        return
    yield from getattr(function, 'links', None) or ()
    for frame in (getattr(function, 'frame', None), getattr(function, 'relative_to', None)):
        if frame is not None:
            yield frame


# -- names that are left open ---------------------------------------------------------------

def default_group(robot: Robot, defaults: Defaults) -> str:
    """Return the group of requests that name none; '' if there is none."""
    return defaults.default_group or _shipped(robot, 'group')


def default_tip(robot: Robot, group: str, defaults: Defaults) -> str:
    """
    Return the tip of requests that name none, for a group or ''.

    Raises AmbiguousTipError with the choices when there are several or none.
    """
    own = group in ('', default_group(robot, defaults))
    tip = (defaults.default_tip or _shipped(robot, 'tip')) if own else ''
    if tip:
        return str(tip)
    tips = group_tips(robot, group)
    if len(tips) != 1:
        raise AmbiguousTipError(group, tips)
    return tips[0]


def group_tips(robot: Robot, group: str = '') -> tuple[str, ...]:
    """Return the tips of a group, or of all groups."""
    groups = [robot.group(group)] if group else robot.groups.values()
    return tuple(dict.fromkeys(tip for each in groups for tip in each.tips))


def _shipped(robot: Robot, what: str) -> str:
    """Look up what config/ says of the robot of this name, if the robot at hand has that."""
    shipped = shipped_robots().get(robot.name)
    if shipped is None or shipped.group not in robot.groups \
            or shipped.tip not in robot.frame_names:
        return ''
    return getattr(shipped, what) or ''
