"""The search for joint values along a path, and the reasons for a path that ends early."""

from collections.abc import Sequence
from dataclasses import fields, replace
import time
from typing import Any, TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.collision import collision_checker, own_collisions
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError, unknown_name
from ros2_ik.core.path.branches import Branches, Chain, pose_jacobian
from ros2_ik.core.path.path import Path, PathBreak, PathOptions
from ros2_ik.core.path.smoothing import smoothed
from ros2_ik.core.path.tool_paths import ToolPath, Waypoints
from ros2_ik.core.problem import (
    accept,
    IKProblem,
    IKSolution,
    largest_change,
    PoseTarget,
)
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers import Budget, solve
from ros2_ik.core.solvers.report import ROTATIONS
from ros2_ik.core.status import Status

TARGET_OPTIONS = ('relative_to', 'weights', 'position_tolerance', 'orientation_tolerance')
PROBLEM_OPTIONS = ('group', 'locked', 'constraints', 'costs', 'joint_limits', 'collisions')
SEARCH_OPTIONS = tuple(each.name for each in fields(PathOptions))
# rotation axes to free, by their index in the weights, the most often useful axis first
AXES_TO_FREE = (5, 3, 4)
# distance from a limit below which a joint is at the limit [rad, m]
AT_LIMIT = 1e-6
# condition number of the pose Jacobian above which the arm is near a singularity
MAX_CONDITION = 100.0
# iteration limit of the search for any configuration at a pose
ITERATIONS = 3000
# status, `reason` and `text` of a PathBreak
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

    If the end is not reached, the status and `broken_at` have the reason. Raises IKError for
    invalid arguments.
    """
    valid = (*TARGET_OPTIONS, *PROBLEM_OPTIONS, *SEARCH_OPTIONS)
    for name in options:
        if name not in valid:
            raise InvalidOptionError(unknown_name('option', name, valid))
    tool_path = path if isinstance(path, ToolPath) else Waypoints(path)
    target, parts, search = ({name: options[name] for name in names if name in options}
                             for names in (TARGET_OPTIONS, PROBLEM_OPTIONS, SEARCH_OPTIONS))
    if parts.get('collisions', True):
        parts['checker'] = (own_collisions(robot).checker if scene is None
                            else collision_checker(robot, scene))
    problem = IKProblem(robot, PoseTarget(tip, tool_path.pose(0.0), **target), start=seed, **parts)
    return follow_path(problem, tool_path, PathOptions(**search), advise=True)


def follow_path(problem: IKProblem, path: ToolPath, options: PathOptions,
                advise: bool = False) -> Path:
    """
    Find joint values for a problem whose only target moves along a path.

    The pose of the target is replaced by those of the path; the start of the problem is the seed.
    If the path breaks, `advise` repeats the search with other starts and with free axes, and
    reports what helps.

    Raises InvalidTargetError unless there is one target, and InvalidOptionError for an active
    joint with more than one value.
    """
    if len(problem.targets) != 1:
        raise InvalidTargetError(f'{len(problem.targets)} targets; valid: one, which moves along '
                                 'the path')
    for joint in problem.active.multi_value_joints:
        raise InvalidOptionError(f"joint '{joint.name}' is {joint.kind}; only joints of one value "
                                 'follow a path: lock it')
    budget = Budget(time.monotonic() + options.timeout, cancel=options.cancel)
    branches = Branches(problem, path, options, budget)
    chain = _search(branches)
    is_whole = chain and chain[-1][0] >= path.length
    broken = None if is_whole else _break(branches, chain, advise)
    return _path(branches, chain, broken)


def _path(branches: Branches, chain: Chain, broken: tuple[Status, PathBreak] | None) -> Path:
    q = np.array([q for _, q in chain]).reshape(-1, branches.problem.robot.nq)
    parameters = np.array([s for s, _ in chain])
    status, text = Status.SUCCESS, f'the whole path is reached, by {len(chain)} configurations'
    if broken is not None:
        status, end = broken
        text = '; '.join([f'the path breaks at {end.parameter:.4g} m of '
                          f'{branches.path.length:.4g} m: {end.text}',
                          *([end.advice] if end.advice else [])])
    return Path(status, text, q, parameters, branches.path, branches.given, branches.options,
                broken[1] if broken else None, time.monotonic() - branches.budget.started)


def _search(branches: Branches) -> Chain:
    """Return the cheapest of the chains that get farthest, smoothed."""
    samples, start = branches.samples, branches.given.start
    if branches.options.hold_start:
        starts = [start] if accept(branches.first(), start).accepted else []
    else:
        starts = branches.search(0.0)
    if not starts:
        return []
    branches.grow(0, starts)
    chain, whole = _checked(branches)
    # where all chains end, search for new configurations and trace their branches in both
    # directions, until that brings no progress
    while len(chain) < len(samples) and not branches.budget.over():
        layer = len(chain)
        branches.grow(layer, branches.search(float(samples[layer])))
        chain, whole = _checked(branches)
        if len(chain) <= layer:
            break
    return _extended(branches, smoothed(branches, chain, whole))


def _checked(branches: Branches) -> tuple[Chain, Chain]:
    """Return the cheapest chain of samples whose steps are all allowed, and its refinement."""
    # refuse the first step that is not allowed, and look for the next cheapest chain
    while True:
        numbers = branches.cheapest()
        chain = [(float(s), branches.nodes[i][k]) for i, (s, k) in enumerate(
            zip(branches.samples, numbers, strict=False))]
        whole, refused = branches.refined(chain)
        if refused is None or branches.budget.over():
            return chain if refused is None else chain[:refused + 1], whole
        branches.refused[refused].add((numbers[refused], numbers[refused + 1]))


def _extended(branches: Branches, chain: Chain) -> Chain:
    """Return a chain extended by the needed poses between its end and the next sample."""
    for s in branches.needed[np.searchsorted(branches.needed, chain[-1][0], 'right'):]:
        q = None if branches.budget.over() else branches.follow(float(s), chain[-1][1])
        if q is None:
            break
        steps, refused = branches.refined([chain[-1], (float(s), q)])
        if refused is not None:
            break
        chain = chain + steps[1:]
    return chain


def _break(branches: Branches, chain: Chain, advise: bool) -> tuple[Status, PathBreak]:
    """Return the status and the PathBreak of a chain that ends early."""
    reached = chain[-1][0] if chain else -1.0
    s = float(branches.needed[int(np.searchsorted(branches.needed, reached, 'right'))])
    status, reason, text = _reason(branches, chain, s)
    advice = _advice(branches, reached) if advise and reason != 'time' else ''
    return status, PathBreak(s, branches.path.pose(s), reason, text, advice)


def _advice(branches: Branches, reached: float) -> str:
    """Return a change of the problem with which the path gets farther, or ''."""
    problem, options, path = branches.given, branches.options, branches.path
    # another start
    if options.hold_start:
        chain = _search(Branches(problem, path, replace(options, hold_start=False),
                                 branches.budget))
        if chain and chain[-1][0] > max(reached, 0.0):
            joints = ', '.join(f'{name} {chain[0][1][problem.robot.joint(name).index]:.4g}'
                               for name in problem.joint_names)
            return f'a start at {joints} reaches {chain[-1][0]:.4g} m'
    # a free rotation axis
    target, = problem.question()['targets']
    for axis in AXES_TO_FREE:
        weights = target.weights.copy()
        weights[axis] = 0.0
        if not target.counted[axis] or not weights.any():
            continue
        chain = _search(Branches(problem.varied(targets=[target.varied(weights=weights)]), path,
                                 options, branches.budget))
        if chain and chain[-1][0] == path.length:
            numbers = ' '.join(f'{weight:g}' for weight in weights)
            return f'with {ROTATIONS[axis]} free (weights {numbers}) the whole path is reached'
    return ''


# -- reasons ------------------------------------------------------------------------------------

def _reason(branches: Branches, chain: Chain, s: float) -> Reason:
    """Return the reason why a chain, possibly empty, cannot be continued to the parameter s."""
    if ended := _time_is_over(branches):
        return ended
    problem, q = branches.at(s), chain[-1][1] if chain else branches.seed
    if not chain and branches.options.hold_start:
        return start_reason(branches.first())
    # the descent along the branch ends in contact
    end = branches.descend(s, q)
    if chain and branches.is_step(q, end) and accept(problem, end).touches:
        return _contact(problem, end)
    # is the pose reachable at all, from any start?
    found = solve(problem, [q], max_iterations=ITERATIONS, timeout=branches.left,
                  random_state=branches.options.random_state, cancel=branches.options.cancel)
    if ended := _time_is_over(branches):
        return ended
    if not found.success:
        return _unreached(problem, found, q, branches)
    return _unconnected(branches, problem, q, end, found)


def _time_is_over(branches: Branches) -> Reason | None:
    if branches.budget.cancelled():
        return Status.PREEMPTED, 'time', 'cancelled'
    if branches.budget.over():
        text = f'the timeout of {branches.options.timeout:.4g} s is over'
        return Status.TIMED_OUT, 'time', text
    return None


def start_reason(problem: IKProblem) -> Reason:
    """Return the reason why the seed (`hold_start`) is not accepted at the first pose."""
    verdict = accept(problem, problem.start)
    if verdict.touches:
        text = f'at the seed {_contact(problem, problem.start)[2]}'
        return Status.START_STATE_IN_COLLISION, 'start', text
    text = 'the seed does not meet the first pose: ' + '; '.join(map(str, verdict.violations))
    return Status.INVALID_ROBOT_STATE, 'start', text


def _contact(problem: IKProblem, q: Array) -> Reason:
    assert problem.checker is not None
    pairs = sorted(problem.checker.touching(q))
    text = ', '.join(f"'{first}' touches '{second}'" for first, second in pairs)
    return Status.GOAL_IN_COLLISION, 'contact', text


def _unreached(problem: IKProblem, found: IKSolution, q: Array, branches: Branches) -> Reason:
    """Return the reason why no configuration was found for a pose."""
    if found.status is Status.GOAL_IN_COLLISION:
        return _contact(problem, found.best_q)
    if problem.kinds != {'targets'}:
        return found.status, 'constraint', found.message
    # reachable without joint limits?
    free = problem.varied(joint_limits=False, collisions=False, checker=None)
    if problem.joint_limits and solve(free, [q], max_iterations=ITERATIONS, timeout=branches.left,
                                      random_state=0, cancel=branches.options.cancel):
        names = ', '.join(f"'{name}'" for name in found.at_limits)
        text = 'no configuration reaches the next pose within the joint limits'
        return found.status, 'joint limit', text + (f'; at their limits: {names}' if names else '')
    return found.status, 'reach', f'no configuration reaches the next pose: {found.message}'


def _unconnected(branches: Branches, problem: IKProblem, q: Array, end: Array,
                 found: IKSolution) -> Reason:
    """Return the reason why no step from q (nq,) reaches a pose that is otherwise reachable."""
    limited = [joint.name for joint in problem.active.joints
               if not problem.lower[joint.index] + AT_LIMIT < end[joint.index]
               < problem.upper[joint.index] - AT_LIMIT]
    change = largest_change(problem.active.joints, q, found.best_q)
    text = f'the nearest other configuration found is {change} away'
    if limited and not accept(problem, end).accepted:
        names = ', '.join(f"'{name}'" for name in limited)
        what = ('the limit' if problem.change_bound is None else
                'the limit, or at that of max_joint_change')
        return Status.NO_IK_SOLUTION, 'joint limit', f'{names} at {what}; {text}'
    sizes = np.linalg.svd(pose_jacobian(problem, q), compute_uv=False)
    condition = float(sizes[0] / max(sizes[-1], 1e-12))
    if condition > MAX_CONDITION:
        text = f'the arm is near a singularity (condition number {condition:.3g}); {text}'
        return Status.NO_IK_SOLUTION, 'singularity', text
    # if the step to the other configuration is short, a contact between both prevented the step
    if branches.is_step(q, found.best_q):
        return Status.NO_IK_SOLUTION, 'contact', 'there is a contact on the way to the next pose'
    return Status.NO_IK_SOLUTION, 'step', text
