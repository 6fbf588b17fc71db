"""The search for joint values along a path."""

from collections.abc import Sequence
from dataclasses import fields, replace
import time
from typing import Any

import numpy as np

from ros2_ik.core.arrays import JointValues, Pose
from ros2_ik.core.collision import collision_checker, own_collisions
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError, unknown_name
from ros2_ik.core.path.branches import Branches
from ros2_ik.core.path.path import Path, PathBreak, PathOptions
from ros2_ik.core.path.smoothing import smoothed
from ros2_ik.core.path.steps import Chain, refined
from ros2_ik.core.path.tool_paths import as_tool_path, ToolPath
from ros2_ik.core.path.why import reason_of
from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers import Budget
from ros2_ik.core.solvers.too_few_joints import ROTATIONS
from ros2_ik.core.status import Status

TARGET_OPTIONS = ('relative_to', 'weights', 'position_tolerance', 'orientation_tolerance')
PROBLEM_OPTIONS = ('group', 'locked', 'constraints', 'costs', 'joint_limits', 'collisions')
SEARCH_OPTIONS = tuple(each.name for each in fields(PathOptions))
# rotation axes to free, by their index in the weights, the most often useful axis first
AXES_TO_FREE = (5, 3, 4)


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
    tool_path = as_tool_path(path)
    target, parts, search = ({name: options[name] for name in names if name in options}
                             for names in (TARGET_OPTIONS, PROBLEM_OPTIONS, SEARCH_OPTIONS))
    if parts.get('collisions', True) is True:
        parts['checker'] = (own_collisions(robot).checker if scene is None
                            else collision_checker(robot, scene))
    problem = IKProblem(robot, PoseTarget(tip, tool_path.pose(0.0), **target), start=seed, **parts)
    return follow_path(problem, tool_path, PathOptions(**search))


def follow_path(problem: IKProblem, path: ToolPath, options: PathOptions | None = None) -> Path:
    """
    Find joint values for a problem whose only target moves along a path.

    The pose of the target is replaced by those of the path; the start of the problem is the seed.
    Raises InvalidTargetError unless there is one target, and InvalidOptionError for an active
    joint with more than one value.
    """
    if len(problem.targets) != 1:
        raise InvalidTargetError(f'{len(problem.targets)} targets; valid: one, which moves along '
                                 'the path')
    for joint in problem.active.multi_value_joints:
        raise InvalidOptionError(f"joint '{joint.name}' is {joint.kind}; only joints of one value "
                                 'follow a path: lock it')
    chosen = options or PathOptions()
    budget = Budget(time.monotonic() + chosen.timeout, cancel=chosen.cancel)
    branches = Branches(problem, path, chosen, budget)
    chain = _search(branches)
    broken = _break(branches, chain) if not chain or chain[-1][0] < path.length else None
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
    samples, is_held = branches.samples, branches.options.hold_start
    starts = branches.held_start() if is_held else branches.search(0.0)
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
        whole, refused = refined(branches, chain)
        if refused is None or branches.budget.over():
            return chain if refused is None else chain[:refused + 1], whole
        branches.refused[refused].add((numbers[refused], numbers[refused + 1]))


def _extended(branches: Branches, chain: Chain) -> Chain:
    """Return a chain extended by the needed poses between its end and the next sample."""
    for s in branches.needed[np.searchsorted(branches.needed, chain[-1][0], 'right'):]:
        q = None if branches.budget.over() else branches.follow(float(s), chain[-1][1])
        if q is None:
            break
        steps, refused = refined(branches, [chain[-1], (float(s), q)])
        if refused is not None:
            break
        chain = chain + steps[1:]
    return chain


def _break(branches: Branches, chain: Chain) -> tuple[Status, PathBreak]:
    """Return the status and the PathBreak of a chain that ends early."""
    reached = chain[-1][0] if chain else -1.0
    s = float(branches.needed[int(np.searchsorted(branches.needed, reached, 'right'))])
    status, reason, text = reason_of(branches, chain, s)
    is_open = reason != 'time' and branches.options.advice
    advice = _advice(branches, reached) if is_open else ''
    return status, PathBreak(len(chain) - 1, s, branches.path.pose(s), reason, text, advice)


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
