"""The search for joint values along a path, and the reasons for a path that ends early."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
import time
from typing import Any, TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.collision import collision_checker
from ros2_ik.core.errors import InvalidOptionError, unknown_name
from ros2_ik.core.motion.motion import LIMIT_ROUNDING
from ros2_ik.core.motion.path_collision_check import largest_step
from ros2_ik.core.path.branches import Branches, Chain, PathOptions
from ros2_ik.core.path.tool_paths import ToolPath, Waypoints
from ros2_ik.core.problem import accept, IKProblem, largest_change, PoseTarget
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers import Budget
from ros2_ik.core.solvers.report import ROTATIONS
from ros2_ik.core.status import Status

TARGET_OPTIONS = ('relative_to', 'weights', 'position_tolerance', 'orientation_tolerance')
PROBLEM_OPTIONS = ('group', 'locked', 'constraints', 'costs', 'joint_limits', 'collisions')
SEARCH_OPTIONS = tuple(each.name for each in fields(PathOptions))
PATH_OPTIONS = (*TARGET_OPTIONS, *PROBLEM_OPTIONS, *SEARCH_OPTIONS)
# condition number of the pose Jacobian above which the arm is near a singularity
MAX_CONDITION = 100.0
# `reason` by status of the search at a pose; for other statuses see `_reason`
REASONS = {Status.GOAL_IN_COLLISION: 'contact', Status.TIMED_OUT: 'time', Status.PREEMPTED: 'time'}
# status and `reason` of a Path, and the text of its message
Reason: TypeAlias = tuple[Status, str, str]


@dataclass(frozen=True, eq=False)
class Path:
    """
    Joint values along a tool path; bool(path) is True if the whole path is reached.

    `q` (n, nq) are the configurations at the `parameters` (n,) [m] of `tool_path`. With status
    SUCCESS, they cover the whole path, all are accepted, and joints change by at most
    `max_joint_step` between neighbours. Otherwise, they end before `broken_at` [m], the parameter
    of the first sample that is not reached, and `reason` is 'contact', 'joint limit', 'reach',
    'singularity', 'constraint', 'step', 'start' or 'time'. `message` has the details, and names a
    change of the problem that makes more of the path reachable, if `solve_path` finds one.
    """

    status: Status
    message: str
    q: Array = field(repr=False)
    parameters: Array = field(repr=False)
    tool_path: ToolPath = field(repr=False)
    problem: IKProblem = field(repr=False)
    options: PathOptions = field(repr=False)
    broken_at: float | None = None
    reason: str = ''
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """True if the whole path is reached."""
        return self.status is Status.SUCCESS

    @property
    def fraction(self) -> float:
        """The reached share of the length of the path, in [0, 1]."""
        return float(self.parameters[-1]) / self.tool_path.length if len(self.q) else 0.0

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Sentences about the collisions that are not checked along the path."""
        return self.problem.not_checked


def solve_path(robot: Robot, tip: str, path: ToolPath | Sequence[Pose],
               seed: JointValues | None = None, scene: Scene | None = None,
               **options: Any) -> Path:
    """
    Find joint values that move `tip` along a path without jumps.

    `path` is a `Line`, `Arc`, `Screw`, `Spline` or `Waypoints`, or a list of poses connected by
    lines. `tip` and other frames may belong to the `scene` (objects, subframes, named frames).

    Branches of configurations are traced along the path from several starts. The result is the
    chain of these configurations that reaches farthest; of several, the one with the least joint
    motion, including the motion from the `seed` to the first configuration.

    The options are those of `PoseTarget` (`relative_to`, `weights`, tolerances), of `IKProblem`
    (`group`, `locked`, `constraints`, `costs`, `joint_limits`, `collisions`) and of `PathOptions`.
    Contacts are also checked between configurations, but constraints only at the configurations,
    so a smaller `spacing` checks constraints more often.

        path = solve_path(robot, 'tool0', Line(T_base_start, T_base_end))
        if path.success:
            motion = path_motion(path, limits, tip_speed=0.1)
        else:
            print(path.message)

    If the end is not reached, the path breaks at the parameter `broken_at` [m], and `status`,
    `reason` and `message` give the cause. Raises IKError for invalid arguments.
    """
    for name in options:
        if name not in PATH_OPTIONS:
            raise InvalidOptionError(unknown_name('option', name, PATH_OPTIONS))
    tool_path = path if isinstance(path, ToolPath) else Waypoints(path)
    target, parts, search = ({name: options[name] for name in names if name in options}
                             for names in (TARGET_OPTIONS, PROBLEM_OPTIONS, SEARCH_OPTIONS))
    if isinstance(scene, Scene) and isinstance(robot, Robot):
        robot = scene.framed_robot(robot=robot)
    if scene is not None and parts.get('collisions', True):
        parts['checker'] = collision_checker(robot, scene)
    problem = IKProblem(robot, PoseTarget(tip, tool_path.pose(0.0), **target), start=seed, **parts)
    chosen = PathOptions(**search)
    budget = Budget(time.monotonic() + chosen.timeout, cancel=chosen.cancel)
    found = follow_path(problem, tool_path, chosen, budget)
    advice = _advice(found, budget) if found.reason not in ('', 'time') else ''
    return replace(found, message='; '.join(filter(None, [found.message, advice])),
                   seconds=time.monotonic() - budget.started)


def follow_path(problem: IKProblem, path: ToolPath, options: PathOptions, budget: Budget) -> Path:
    """
    Find joint values along a path; the problem's only target is at the first pose of the path.

    The start of the problem is the seed. Raises InvalidOptionError for an active joint with more
    than one value.
    """
    for joint in problem.active.multi_value_joints:
        raise InvalidOptionError(f"joint '{joint.name}' is {joint.kind}; only joints of one value "
                                 'follow a path: lock it')
    branches = Branches(problem, path, options, budget)
    chain, broken_at = branches.search(), None
    status, reason, text = Status.SUCCESS, '', (
        f'the whole path is reached, by {len(chain)} configurations')
    reached = chain[-1][0] if chain else 0.0
    if not chain or reached < path.length:
        broken_at = float(branches.samples[branches.next_sample(chain)])
        status, reason, text = _reason(branches, chain, broken_at)
        text = (f'{reached:.4g} m of {path.length:.4g} m are reached; the path breaks at '
                f'{broken_at:.4g} m: {text}')
    q = np.array([q for _, q in chain]).reshape(-1, problem.robot.nq)
    return Path(status, text, q, np.array([s for s, _ in chain]), path, problem, options,
                broken_at, reason, time.monotonic() - budget.started)


def _advice(path: Path, budget: Budget) -> str:
    """Return a text on how to change the problem to reach more of a broken path, or ''."""
    problem, options, tool_path = path.problem, path.options, path.tool_path
    if options.hold_start:
        found = follow_path(problem, tool_path, replace(options, hold_start=False), budget)
        if found.fraction > path.fraction:
            return (f'another start (hold_start=False) reaches '
                    f'{found.fraction * tool_path.length:.4g} m')
    target, = problem.given
    # try a free rotation, first about the tool axis (z)
    for axis, name in reversed(ROTATIONS.items()):
        weights = target.weights.copy()
        weights[axis] = 0.0
        if target.counted[axis] and weights.any() and follow_path(
                problem.replaced(targets=[target.replaced(weights=weights)]), tool_path, options,
                budget):
            numbers = ' '.join(f'{weight:g}' for weight in weights)
            return f'with {name} free (weights {numbers}) the whole path is reached'
    return ''


# -- reasons ------------------------------------------------------------------------------------

def _reason(branches: Branches, chain: Chain, s: float) -> Reason:
    """Return the reason why a chain, possibly empty, cannot be continued to the parameter s."""
    budget, options, problem = branches.budget, branches.options, branches.at(s)
    if branches.interrupted or budget.over():
        return ((Status.PREEMPTED, 'time', 'cancelled') if budget.cancelled() else
                (Status.TIMED_OUT, 'time', f'the timeout, {options.timeout:.4g} s, is too short'))
    if not chain and options.hold_start:
        return start_reason(branches.problem)
    # does the descent along the branch end in contact?
    q = chain[-1][1] if chain else branches.seed
    end = branches.descend(problem, q)
    report, step = accept(problem, end), options.max_joint_step
    if chain and largest_step(q, end) <= step and report.touches:
        return Status.GOAL_IN_COLLISION, 'contact', _contacts(problem, end)
    # search from any start: is the pose reachable at all?
    found = branches.solve(s, q)
    # joints at their limits: at the best q of a failed search, else at the rejected descent's end
    at = end if found.success else found.best_q
    limited = [] if found.success and report.accepted else [
        joint.name for joint in problem.active.joints
        if not problem.lower[joint.index] + LIMIT_ROUNDING < at[joint.index]
        < problem.upper[joint.index] - LIMIT_ROUNDING]
    bound = '' if problem.change_bound is None else ', or at those of max_joint_change'
    limits = f'; at their limits{bound}: {", ".join(limited)}' if limited else ''
    if not found.success:
        cause = 'joint limit' if limited else 'reach'
        cause = cause if problem.kinds == {'targets'} else 'constraint'
        return (found.status, REASONS.get(found.status, cause),
                f'no configuration reaches the pose there: {found.message}{limits}')
    text = ('no allowed step reaches the pose there; the nearest other configuration found is '
            f'{largest_change(problem.active.joints, q, found.best_q)} away{limits}')
    if limited:
        return Status.NO_IK_SOLUTION, 'joint limit', text
    target, robot = problem.targets[0], problem.robot
    J = target.function.jacobian(Configuration(robot, q, robot.scratch_data()))
    condition = float(np.linalg.cond(J[target.counted][:, problem.active.v_slice]))
    if condition > MAX_CONDITION:
        return (Status.NO_IK_SOLUTION, 'singularity',
                f'{text}; the arm is near a singularity (condition number {condition:.3g})')
    # if the step to the other configuration is short, the motion in between was refused
    if largest_step(q, found.best_q) <= step:
        return (Status.NO_IK_SOLUTION, 'contact', 'the motion to the pose there is not allowed: '
                'between the poses, there is a contact, or the tool leaves the path')
    return Status.NO_IK_SOLUTION, 'step', text


def start_reason(problem: IKProblem) -> Reason:
    """Return the reason why the seed (`hold_start`) is not accepted at the first pose."""
    report = accept(problem, problem.start)
    if report.touches:
        return (Status.START_STATE_IN_COLLISION, 'start',
                f'at the seed {_contacts(problem, problem.start)}')
    return (Status.INVALID_ROBOT_STATE, 'start', 'the seed does not meet the first pose: '
            + '; '.join(map(str, report.violations)))


def _contacts(problem: IKProblem, q: Array) -> str:
    assert problem.checker is not None
    return ', '.join(f"'{first}' touches '{second}'"
                     for first, second in sorted(problem.checker.touching(q)))
