"""The search for joint values along a path, and the reasons for a path that ends early."""

from collections.abc import Sequence
from dataclasses import fields, replace
import time
from typing import Any, TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.collision import collision_checker
from ros2_ik.core.errors import InvalidOptionError, unknown_name
from ros2_ik.core.motion.path_collision_check import largest_step
from ros2_ik.core.path.branches import Branches, Chain
from ros2_ik.core.path.path import Path, PathOptions
from ros2_ik.core.path.tool_paths import ToolPath, Waypoints
from ros2_ik.core.problem import accept, IKProblem, IKSolution, largest_change, PoseTarget
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers import Budget
from ros2_ik.core.solvers.report import ROTATIONS
from ros2_ik.core.status import Status

TARGET_OPTIONS = ('relative_to', 'weights', 'position_tolerance', 'orientation_tolerance')
PROBLEM_OPTIONS = ('group', 'locked', 'constraints', 'costs', 'joint_limits', 'collisions')
SEARCH_OPTIONS = tuple(each.name for each in fields(PathOptions))
PATH_OPTIONS = (*TARGET_OPTIONS, *PROBLEM_OPTIONS, *SEARCH_OPTIONS)
# distance from a limit below which a joint is at the limit [rad, m]
AT_LIMIT = 1e-6
# condition number of the pose Jacobian above which the arm is near a singularity
MAX_CONDITION = 100.0
# reasons by the status of the search for any configuration at a pose
REASONS = {Status.GOAL_IN_COLLISION: 'contact', Status.TIMED_OUT: 'time',
           Status.PREEMPTED: 'time'}
# status and `reason` of a Path, and the text of its message
Reason: TypeAlias = tuple[Status, str, str]


def solve_path(robot: Robot, tip: str, path: ToolPath | Sequence[Pose],
               seed: JointValues | None = None, scene: Scene | None = None,
               **options: Any) -> Path:
    """
    Find joint values that move `tip` along a path without jumps.

    `path` is a `Line`, `Arc`, `Screw`, `Spline` or `Waypoints`, or a list of poses connected by
    lines. Branches of configurations are traced along the path from several starts, and the one
    with the least joint motion is returned; the motion from the `seed` to the first configuration
    counts.

    The options are `relative_to`, `weights` and the tolerances of `PoseTarget`, `group`, `locked`,
    `constraints`, `costs`, `joint_limits` and `collisions` of `IKProblem`, and the fields of
    `PathOptions`. Contacts are also checked between configurations; constraints hold only at the
    configurations, so a smaller `spacing` checks them more often.

        path = solve_path(robot, 'tool0', Line(T_base_start, T_base_end))
        if path.success:
            motion = path_motion(path, limits, tip_speed=0.1)
        else:
            print(path.message)

    If the end is not reached, `broken_at` is the place of the break; `status`, `reason` and
    `message` tell why. Raises IKError for invalid arguments.
    """
    for name in options:
        if name not in PATH_OPTIONS:
            raise InvalidOptionError(unknown_name('option', name, PATH_OPTIONS))
    tool_path = path if isinstance(path, ToolPath) else Waypoints(path)
    target, parts, search = ({name: options[name] for name in names if name in options}
                             for names in (TARGET_OPTIONS, PROBLEM_OPTIONS, SEARCH_OPTIONS))
    if scene is not None and parts.get('collisions', True):
        parts['checker'] = collision_checker(robot, scene)
    problem = IKProblem(robot, PoseTarget(tip, tool_path.pose(0.0), **target), start=seed, **parts)
    chosen = PathOptions(**search)
    budget = Budget(time.monotonic() + chosen.timeout, cancel=chosen.cancel)
    return follow_path(problem, tool_path, chosen, budget, advise=True)


def follow_path(problem: IKProblem, path: ToolPath, options: PathOptions, budget: Budget,
                advise: bool = False) -> Path:
    """
    Find joint values for a problem whose only target is at the first pose of a path.

    The start of the problem is the seed. If the path breaks, `advise` repeats the search with
    other starts and with free axes, and reports what helps.

    Raises InvalidOptionError for an active joint with more than one value.
    """
    for joint in problem.active.multi_value_joints:
        raise InvalidOptionError(f"joint '{joint.name}' is {joint.kind}; only joints of one value "
                                 'follow a path: lock it')
    branches = Branches(problem, path, options, budget)
    chain = branches.search()
    status, reason, text = Status.SUCCESS, '', (
        f'the whole path is reached, by {len(chain)} configurations')
    broken_at = None
    if not chain or chain[-1][0] < path.length:
        broken_at = float(branches.samples[branches.next_sample(chain)])
        status, reason, text = _reason(branches, chain, broken_at)
        if advise and reason != 'time' and (advice := _advice(branches, chain)):
            text += f'; {advice}'
        text = f'the path breaks at {broken_at:.4g} m of {path.length:.4g} m: {text}'
    q = np.array([q for _, q in chain]).reshape(-1, problem.robot.nq)
    return Path(status, text, q, np.array([s for s, _ in chain]), path, problem, options,
                broken_at, reason, time.monotonic() - budget.started)


def _advice(branches: Branches, chain: Chain) -> str:
    """Return a change of the problem with which the path gets farther than the chain, or ''."""
    problem, options, path = branches.problem, branches.options, branches.path

    def reached(problem: IKProblem, options: PathOptions) -> float:
        found = Branches(problem, path, options, branches.budget).search()
        return found[-1][0] if found else 0.0
    if options.hold_start:
        end = reached(problem, replace(options, hold_start=False))
        if end > (chain[-1][0] if chain else 0.0):
            return f'another start (hold_start=False) reaches {end:.4g} m'
    target, = problem.question()['targets']
    # a free rotation, first about the axis of the tool
    for axis, name in reversed(ROTATIONS.items()):
        weights = target.weights.copy()
        weights[axis] = 0.0
        if target.counted[axis] and weights.any() and path.length == reached(
                problem.varied(targets=[target.varied(weights=weights)]), options):
            numbers = ' '.join(f'{weight:g}' for weight in weights)
            return f'with {name} free (weights {numbers}) the whole path is reached'
    return ''


# -- reasons ------------------------------------------------------------------------------------

def _reason(branches: Branches, chain: Chain, s: float) -> Reason:
    """Return the reason why a chain, possibly empty, cannot be continued to the parameter s."""
    budget, options, problem = branches.budget, branches.options, branches.at(s)
    if budget.over():
        return ((Status.PREEMPTED, 'time', 'cancelled') if budget.cancelled() else
                (Status.TIMED_OUT, 'time', f'the timeout of {options.timeout:.4g} s is over'))
    if not chain and options.hold_start:
        return start_reason(branches.problem)
    # the descent along the branch ends in contact
    q = chain[-1][1] if chain else branches.seed
    end = branches.descend(problem, q)
    is_step = largest_step(q, end) <= options.max_joint_step
    if chain and is_step and accept(problem, end).touches:
        return Status.GOAL_IN_COLLISION, 'contact', _contacts(problem, end)
    # is the pose reachable at all, from any start?
    found = branches.solve(s, q)
    if found.success:
        return _unconnected(branches, problem, q, end, found)
    limited = _limited(problem, found.best_q)
    reason = REASONS.get(found.status) or (
        'constraint' if problem.kinds != {'targets'} else 'joint limit' if limited else 'reach')
    limits = f'; at their limits: {", ".join(limited)}' if limited else ''
    return (found.status, reason,
            f'no configuration reaches the next pose: {found.message}{limits}')


def _unconnected(branches: Branches, problem: IKProblem, q: Array, end: Array,
                 found: IKSolution) -> Reason:
    """Return the reason why no step from q (nq,) reaches a pose that is otherwise reachable."""
    text = ('no allowed step reaches the next pose; the nearest other configuration found is '
            f'{largest_change(problem.active.joints, q, found.best_q)} away')
    limited = _limited(problem, end)
    if limited and not accept(problem, end).accepted:
        bound = '' if problem.change_bound is None else ' or at that of max_joint_change'
        return (Status.NO_IK_SOLUTION, 'joint limit',
                f'{text}; at the limit{bound}: {", ".join(limited)}')
    target, robot = problem.targets[0], problem.robot
    J = target.function.jacobian(Configuration(robot, q, robot.scratch_data()))
    condition = float(np.linalg.cond(J[target.counted][:, problem.active.v_slice]))
    if condition > MAX_CONDITION:
        return (Status.NO_IK_SOLUTION, 'singularity',
                f'{text}; the arm is near a singularity (condition number {condition:.3g})')
    # if the step to the other configuration is short, a contact between both prevented the step
    if largest_step(q, found.best_q) <= branches.options.max_joint_step:
        return Status.NO_IK_SOLUTION, 'contact', 'there is a contact on the way to the next pose'
    return Status.NO_IK_SOLUTION, 'step', text


def _limited(problem: IKProblem, q: Array) -> list[str]:
    """Return the active joints that are at a limit at q (nq,)."""
    return [joint.name for joint in problem.active.joints
            if not problem.lower[joint.index] + AT_LIMIT < q[joint.index]
            < problem.upper[joint.index] - AT_LIMIT]


def start_reason(problem: IKProblem) -> Reason:
    """Return the reason why the seed (`hold_start`) is not accepted at the first pose."""
    verdict = accept(problem, problem.start)
    if verdict.touches:
        return (Status.START_STATE_IN_COLLISION, 'start',
                f'at the seed {_contacts(problem, problem.start)}')
    return (Status.INVALID_ROBOT_STATE, 'start', 'the seed does not meet the first pose: '
            + '; '.join(map(str, verdict.violations)))


def _contacts(problem: IKProblem, q: Array) -> str:
    assert problem.checker is not None
    return ', '.join(f"'{first}' touches '{second}'"
                     for first, second in sorted(problem.checker.touching(q)))
