"""Joint values for all poses of a path."""

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
from ros2_ik.core.status import Status

OF_TARGET = ('relative_to', 'weights', 'position_tolerance', 'orientation_tolerance')
OF_PROBLEM = ('group', 'locked', 'constraints', 'costs', 'joint_limits', 'collisions')
OF_SEARCH = tuple(each.name for each in fields(PathOptions))
FREED = {5: 'rz', 3: 'rx', 4: 'ry'}     # of the weights, the most often useful first


def solve_path(robot: Robot, tip: str, path: ToolPath | Sequence[Pose],
               seed: JointValues | None = None, scene: Scene | None = None,
               **options: Any) -> Path:
    """
    Find joint values that move `tip` along a path without jumps.

    `path` is a `Line`, `Arc`, `Screw` or `Spline`, or a list of poses, which lines connect. All
    branches, from several starts, are traced along the path, and the one with the least motion is
    returned, counted from the `seed`. The options are `relative_to`, `weights` and the tolerances
    of a `PoseTarget`, `group`, `locked`, `constraints`, `costs`, `joint_limits` and `collisions`
    of an `IKProblem`, and those of `PathOptions`. Constraints hold at the configurations, of which
    there are more with a smaller `spacing`; between them contacts are looked for.

        path = solve_path(robot, 'tool0', Line(T_base_start, T_base_end))
        if path.success:
            motion = path_motion(path, limits, tip_speed=0.1)
        else:
            print(path.message)

    Not getting to the end is a status. Raises IKError for a malformed question.
    """
    valid = (*OF_TARGET, *OF_PROBLEM, *OF_SEARCH)
    for name in options:
        if name not in valid:
            raise InvalidOptionError(unknown_name('option', name, valid))
    tool_path = as_tool_path(path)
    target, parts, search = ({name: options[name] for name in names if name in options}
                             for names in (OF_TARGET, OF_PROBLEM, OF_SEARCH))
    if parts.get('collisions', True) is True:
        parts['checker'] = (own_collisions(robot).checker if scene is None
                            else collision_checker(robot, scene))
    problem = IKProblem(robot, PoseTarget(tip, tool_path.pose(0.0), **target), start=seed, **parts)
    return follow_path(problem, tool_path, PathOptions(**search))


def follow_path(problem: IKProblem, path: ToolPath, options: PathOptions | None = None) -> Path:
    """
    Find joint values for a problem whose one target goes along a path.

    The pose of the target does not matter; the problem's start is the seed. Raises
    InvalidTargetError for another number of targets, InvalidOptionError where a joint moves that
    has more than one value.
    """
    if len(problem.targets) != 1:
        raise InvalidTargetError(f'{len(problem.targets)} targets; valid: one, which goes along '
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
    """Return the best chain of configurations, of those that get farthest."""
    samples, is_held = branches.samples, branches.options.hold_start
    starts = branches.held_start() if is_held else branches.search(0.0)
    if not starts:
        return []
    branches.grow(0, starts)
    chain, whole = _checked(branches)
    while len(chain) < len(samples) and not branches.budget.over():
        layer = len(chain)
        branches.grow(layer, branches.search(float(samples[layer])))
        chain, whole = _checked(branches)
        if len(chain) <= layer:
            break
    return _extended(branches, smoothed(branches, chain, whole))


def _checked(branches: Branches) -> tuple[Chain, Chain]:
    """Return the cheapest chain of samples whose steps hold, and the same with all it needs."""
    while True:
        numbers = branches.cheapest()
        chain = [(float(s), branches.nodes[i][k]) for i, (s, k) in enumerate(
            zip(branches.samples, numbers, strict=False))]
        whole, refused = refined(branches, chain)
        if refused is None or branches.budget.over():
            return chain if refused is None else chain[:refused + 1], whole
        branches.refused[refused].add((numbers[refused], numbers[refused + 1]))


def _extended(branches: Branches, chain: Chain) -> Chain:
    """Return a chain with the poses after it that are reached before the next sample."""
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
    """Return where and why a chain ends early, and what would help."""
    reached = chain[-1][0] if chain else -1.0
    s = float(branches.needed[int(np.searchsorted(branches.needed, reached, 'right'))])
    status, reason, text = reason_of(branches, chain, s)
    is_open = reason != 'time' and branches.options.advice
    advice = _advice(branches, reached) if is_open else ''
    return status, PathBreak(len(chain) - 1, s, branches.path.pose(s), reason, text, advice)


def _advice(branches: Branches, reached: float) -> str:
    """Return a change of the question with which the path gets through, '' if none was found."""
    problem, options, path = branches.given, branches.options, branches.path
    if options.hold_start:
        chain = _search(Branches(problem, path, replace(options, hold_start=False),
                                 branches.budget))
        if chain and chain[-1][0] > max(reached, 0.0):
            joints = ', '.join(f'{name} {chain[0][1][problem.robot.joint(name).index]:.4g}'
                               for name in problem.joint_names)
            return f'a start at {joints} gets to {chain[-1][0]:.4g} m'
    target, = problem.question()['targets']
    for axis, name in FREED.items():
        weights = target.weights.copy()
        weights[axis] = 0.0
        if not target.counted[axis] or not weights.any():
            continue
        chain = _search(Branches(problem.varied(targets=[target.varied(weights=weights)]), path,
                                 options, branches.budget))
        if chain and chain[-1][0] == path.length:
            numbers = ' '.join(f'{weight:g}' for weight in weights)
            return f'with {name} free (weights {numbers}) the whole path is reached'
    return ''
