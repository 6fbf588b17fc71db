"""Inverse-kinematics requests, and the search that answers a request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, JointValues
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import AmbiguousTipError
from ros2_ik.core.functions import JointCoupling, JointPositions, KinematicFunction, PairDistance
from ros2_ik.core.problem import (
    Constraint,
    IKProblem,
    LeastSquares,
    ORIENTATION_TOLERANCE,
    PoseTarget,
    POSITION_TOLERANCE,
)
from ros2_ik.core.problem.structure import active_names, named_joints
from ros2_ik.core.robot import Configuration, Robot, shipped_robots
from ros2_ik.core.solvers import Search, SolveOptions

__all__ = ['Defaults', 'IKRequest', 'World', 'default_group', 'default_tip', 'group_tips',
           'prepare']
# names of joints
Joints = frozenset[str]


@dataclass(frozen=True)
class Defaults:
    """
    Defaults for fields that a request leaves empty, and limits of `timeout` and `solutions`.

    Each field is described at the node parameter of the same name.
    """

    default_group: str = ''
    default_tip: str = ''
    default_timeout: float = SolveOptions().timeout
    max_timeout: float = math.inf
    position_tolerance: float = POSITION_TOLERANCE
    orientation_tolerance: float = ORIENTATION_TOLERANCE
    max_solutions: float = math.inf
    max_jump: float = 0.0


@dataclass(frozen=True)
class IKRequest:
    """
    A request for joint values: `targets`, `constraints`, `costs`, and the joints that may move.

    The joints of `group` may move. With neither `group` nor `moving_joints`, the joints of
    `default_group` may move if they can change every tip pose, constraint and cost (see
    `chosen_group`). Otherwise, all joints that targets, constraints or costs depend on may move.
    If `moving_joints` are named, no other joints move. `locked_joints` never move. The base joint
    moves only if the group contains it.

    A target relative to a moving frame refers to the pose of that frame in the solution, or, if
    `follow_frames` is False, to the pose of that frame at the start.

    The search starts at `seed`, then at `more_seeds`: joint values by name. The `World` completes
    `seed`; joints missing from one of `more_seeds` take their values from the completed `seed`.
    `options.max_joint_change` bounds the joint changes from `seed`. With `avoid_collisions`, a
    solution has no contact that the world's `checker` finds.

    Tips and frames may be frames of the robot, frames of the world's scene (objects, subframes,
    named frames), and `frames` that this request adds, such as a tool (see `Robot.with_frames`).
    """

    targets: Sequence[PoseTarget] = ()
    constraints: Sequence[Constraint] = ()
    costs: Sequence[LeastSquares] = ()
    follow_frames: bool = True
    group: str = ''
    default_group: str = ''
    moving_joints: Iterable[str] = ()
    locked_joints: Iterable[str] = ()
    seed: Mapping[str, float | Array] = field(default_factory=dict)
    more_seeds: Sequence[Mapping[str, float | Array]] = ()
    avoid_collisions: bool = True
    options: SolveOptions = field(default_factory=SolveOptions)
    frames: Mapping[str, tuple[str | None, pin.SE3]] = field(default_factory=dict)


@dataclass
class World:
    """
    The robot, its collision checker (None: no collisions are checked) and its current state.

    `at` is the current state: joint values as an array (nq,) or by name. For a state that changes,
    derive a class that overrides `start`.
    """

    robot: Robot
    at: JointValues | None = None
    checker: CollisionChecker | None = None

    def start(self, request: IKRequest, active: Joints, required: Joints,
              checked: Joints) -> Array:
        """
        Return the seed (nq,) of the request, completed by the current joint values.

        The search starts at the values of `active` joints. The values of `required` joints affect
        targets, constraints or costs; those of `checked` joints, only contacts and distances.
        Overrides raise IKError if a required value is missing or too old.
        """
        return self.robot.to_q(request.seed, self.robot.to_q(self.at), 'seed')


def prepare(request: IKRequest, world: World) -> Search:
    """Return the search that answers a request; raises IKError if the request is invalid."""
    robot, checker = world.robot, world.checker
    # add to the robot the frames of the scene that the request names, then the request's frames
    if checker is not None:
        robot = checker.scene.framed_robot(_frames(request), robot)
    robot = robot.with_frames(request.frames)
    group = chosen_group(request, robot)
    locked = _locked(request, robot, group)
    active = active_names(
        robot, [(target.tip, target.relative_to if request.follow_frames else None)
                for target in request.targets],
        [term.function.joints(robot) for term in (*request.constraints, *request.costs)],
        group or None, locked)
    checked = checker.moving_joints - active if checker else frozenset[str]()
    start = world.start(request, active, required_names(request, robot, active), checked)
    targets = request.targets
    # reference frames stay at their start poses: express the targets in the root frame
    if not request.follow_frames and any(target.relative_to for target in targets):
        at = Configuration(robot, start, robot.scratch_data())
        targets = [target.resolved(at) for target in targets]
    # even if contacts are allowed, distance constraints keep their own checkers
    contact_checker = checker if request.avoid_collisions else None
    problem = IKProblem(
        robot, targets, group or None, start, locked,
        request.constraints, request.costs, checker=contact_checker,
        collisions=contact_checker is not None)
    seeds: list[JointValues] = [problem.start, *request.more_seeds]
    return Search(problem, seeds if request.more_seeds else None, options=request.options)


# -- joints that move, and joints whose values are required ---------------------------------

def chosen_group(request: IKRequest, robot: Robot) -> str:
    """
    Return the name of the group that moves, or '' if no group is used (see `IKRequest`).

    A given `group` always moves. With neither `group` nor `moving_joints`, the `default_group`
    moves if it contains each joint that a constraint or cost names, and can move each tip, each
    frame of a constraint or cost, and each pair of tips relative to each other (except those
    that no joint can move). A constraint on joint positions without `names` names all joints.
    """
    group = request.group or ('' if request.moving_joints else request.default_group)
    if request.group or not group:
        return group
    joints = frozenset(robot.group(group).joint_names)
    joint_sets = _joint_sets(request, robot)
    return group if all(joints & one for one in joint_sets if one) else ''


def _joint_sets(request: IKRequest, robot: Robot) -> Iterator[frozenset[str]]:
    """Yield sets of joints; the default group must contain a joint of each non-empty set."""
    # passive joints never move, and the group need not contain the base
    immobile = robot.passive_joints | {robot.base_joint}
    tips = [target.tip for target in request.targets]
    yield from map(robot.moving_joints, tips)
    for pair in combinations(tips, 2):
        yield robot.moving_joints(*pair) - robot.passive_joints
    for item in (*request.constraints, *request.costs):
        spec, joints = item.function.spec, item.function.joints(robot) - immobile
        yield joints
        # functions of joint positions: one set for each joint
        if isinstance(spec, (JointPositions, JointCoupling)) and (
                spec.names is not None or isinstance(item, Constraint)):
            yield from (frozenset([joint]) for joint in joints)
        for body in _function_frames(item.function):
            yield robot.moving_joints(body) - immobile


def _frames(request: IKRequest) -> list[str]:
    """Return the names of the frames in a request except those that the request itself adds."""
    names = [name for target in request.targets for name in (target.tip, target.relative_to)]
    names += [name for item in (*request.constraints, *request.costs)
              for name in _function_frames(item.function)]
    names += [link for link, _ in request.frames.values()]
    return [name for name in names if name is not None and name not in request.frames]


def required_names(request: IKRequest, robot: Robot, active: Joints) -> Joints:
    """Return joints whose start values affect targets, constraints or costs except distances."""
    required = frozenset[str]()
    for target in request.targets:
        required |= robot.moving_joints(target.tip, target.relative_to) - active
        # a reference frame at its start pose also depends on the start values of active joints
        if target.relative_to and not request.follow_frames:
            required |= robot.moving_joints(target.relative_to) & active
    functions = [constraint.function for constraint in request.constraints]
    # omit costs on joint positions: without a weight matrix, inactive joints only add a constant
    functions += [cost.function for cost in request.costs if np.ndim(cost.weight) == 2
                  or not isinstance(cost.function.spec, JointPositions)]
    for function in functions:
        # the joints of distance functions are in `checked` (see `World.start`)
        if not hasattr(function, 'checker'):
            required |= function.joints(robot) - active
    return required


def _locked(request: IKRequest, robot: Robot, group: str) -> Joints:
    """Return the joints that the request does not allow to move."""
    base = robot.base_joint
    immobile = frozenset({base} if base and not group else ())
    moving = named_joints('moving_joints', request.moving_joints, robot)
    if moving:
        immobile |= frozenset(robot.joint_names) - moving
    return immobile | named_joints('locked_joints', request.locked_joints, robot)


def _function_frames(function: KinematicFunction) -> list[str]:
    """Return the frames and links that a function names; for an attached object, its link."""
    names = [*(getattr(function, 'links', None) or ()), getattr(function, 'frame', None),
             getattr(function, 'relative_to', None)]
    if isinstance(function, PairDistance):
        names = [function.checker.scene.link_of(end) for end in (function.first, function.second)]
    return [name for name in names if name is not None]


# -- default group and tip ------------------------------------------------------------------

def default_group(robot: Robot, defaults: Defaults) -> str:
    """Return the default group for requests that name no group, or ''."""
    return defaults.default_group or _shipped_default(robot, 'group')


def default_tip(robot: Robot, group: str, defaults: Defaults) -> str:
    """
    Return the default tip of `group` ('': of the whole robot) for requests that name no tip.

    Raises AmbiguousTipError if no default is set and there are several tips or none.
    """
    own = group in ('', default_group(robot, defaults))
    tip = (defaults.default_tip or _shipped_default(robot, 'tip')) if own else ''
    if tip:
        return str(tip)
    tips = group_tips(robot, group)
    if len(tips) != 1:
        raise AmbiguousTipError(group, tips)
    return tips[0]


def group_tips(robot: Robot, group: str = '') -> tuple[str, ...]:
    """Return the tips of `group`, or of all groups for '', each once."""
    groups = [robot.group(group)] if group else robot.groups.values()
    return tuple(dict.fromkeys(tip for each in groups for tip in each.tips))


@lru_cache(maxsize=16)
def _shipped_default(robot: Robot, what: str) -> str:
    """Return field `what` ('group' or 'tip') of the shipped robot of the same name, or ''."""
    shipped = shipped_robots().get(robot.name)
    # another robot of the same name may have other groups and frames
    if shipped is None or shipped.group not in (None, *robot.groups) \
            or shipped.tip not in (None, *robot.frame_names):
        return ''
    return getattr(shipped, what) or ''
