"""The doors: solve a problem, or one pose in one line."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
import time
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import listed
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem import (
    ALL_AXES,
    IKProblem,
    IKSolution,
    ORIENTATION_TOLERANCE,
    PoseTarget,
    POSITION_TOLERANCE,
)
from ros2_ik.core.robot import check_robot, Robot
from ros2_ik.core.scene import collision_checker, own_collisions, Scene
from ros2_ik.core.solvers.at_once import answer_at_once
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.matlab_names import one_error_each, targets_along_base, with_names
from ros2_ik.core.solvers.search import Search, seeds_of

TIMEOUT = 0.05    # of a search [s]
_PLAIN = frozenset((str, float, int, bool, type(None)))    # what can be told apart by a cache


@with_names(max_time='timeout', allow_random_restart='allow_restarts')
def solve(problem: IKProblem, seeds: Sequence[JointValues] | None = None, *,
          timeout: float = TIMEOUT, solver: str = 'auto', select: str = 'first',
          solutions: int = 1, allow_restarts: bool = True, winding: str = 'seed',
          approximate: Sequence[float] | None = None,
          random_state: int | np.random.Generator | None = None,
          max_iterations: int | None = None, cancel: Any = None,
          progress: Callable[[float, int], None] | None = None, max_joint_change: Any = None,
          **options: Any) -> IKSolution:
    """
    Solve a problem within `timeout` seconds; one descent is made however few they are.

    `seeds` are tried first, in order; by default the problem's start. `solver` is a name of
    `solver_names()`, or 'auto', which chooses by the problem's shape and says why in the
    solution. `select` is 'first', or what the answer should have most of, which uses up the time:
    'nearest' (to the first seed), 'cost' (the lowest) or 'manipulability' (of the targets' tips).
    `solutions` is how many different answers are wanted. Of all turns of a joint that mean the
    same, `winding` keeps the one nearest the 'seed' or the 'lower' limit. `approximate` (position
    [m], orientation [rad]) asks for the best answer within these when there is no other; its
    status is then APPROXIMATE. `max_joint_change` [rad, m] bounds how far joints move from the
    first seed, turns counted: one number, numbers by joint name, or one for each joint of the
    robot. `max_iterations` bounds all attempts together. `cancel` is an
    event or callable, `progress(error, attempts)` is called after each attempt. Further options
    go to the solver. `max_time` and `allow_random_restart` are MATLAB's names of timeout and
    allow_restarts.

    Not finding an answer is a status of the solution. Raises IKError for a malformed question.
    """
    return _solve(problem, seeds, timeout, solver, select, solutions, allow_restarts, winding,
                  approximate, random_state, max_iterations, cancel, progress, max_joint_change,
                  options)


def _solve(problem: IKProblem, seeds: Any, timeout: float, solver: str, select: str,
           solutions: int, allow_restarts: bool, winding: str, approximate: Any,
           random_state: Any, max_iterations: int | None, cancel: Any, progress: Any,
           max_joint_change: Any, options: dict[str, Any]) -> IKSolution:
    budget = Budget.of(timeout, max_iterations, cancel, progress)
    begun = None
    if not options and approximate is max_iterations is cancel is progress \
            is max_joint_change is None and _is_usual(
            select, solutions, winding, solver, allow_restarts, random_state) \
            and isinstance(problem, IKProblem):
        found = [problem.start] if seeds is None else seeds_of(problem, seeds)
        if len(found) == 1:
            answer = answer_at_once(problem, found[0], solver, budget, allow_restarts,
                                    random_state)
            if isinstance(answer, IKSolution):
                return answer
            begun = answer
        budget.spent = time.monotonic() - budget.started
    search = Search(problem, seeds, solver=solver, select=select, solutions=solutions,
                    allow_restarts=allow_restarts, winding=winding, approximate=approximate,
                    max_joint_change=max_joint_change, random_state=random_state, budget=budget,
                    options=options, begun=begun)
    search.run()
    return search.solution()


@with_names(max_time='timeout', allow_random_restart='allow_restarts',
            enforce_joint_limits='joint_limits')
def solve_pose(robot: Robot, tip: str | Sequence[str], target: Pose | Sequence[Pose],
               seed: JointValues | None = None, *,
               relative_to: str | Sequence[str | None] | None = None, group: str | None = None,
               locked: Iterable[str] = (), timeout: float = TIMEOUT,
               weights: Sequence[Any] | Array = ALL_AXES,
               matlab_weights: Sequence[Any] | Array | None = None,
               position_tolerance: float = POSITION_TOLERANCE,
               orientation_tolerance: float = ORIENTATION_TOLERANCE,
               joint_limits: bool = True, scene: Scene | None = None, meshes: str = 'exact',
               missing_meshes: str = 'refuse',
               collisions: bool = True,
               allow_restarts: bool = True, solver: str = 'auto', select: str = 'first',
               solutions: int = 1, winding: str = 'seed',
               approximate: Sequence[float] | None = None,
               random_state: int | np.random.Generator | None = None,
               max_iterations: int | None = None, cancel: Any = None,
               progress: Callable[[float, int], None] | None = None,
               max_joint_change: Any = None, **options: Any) -> IKSolution:
    """
    Find joint values that bring `tip` to `target`.

    `target` is a (4, 4) array or pinocchio.SE3: the pose of `tip` in the frame `relative_to`
    (default: the root frame), which in the answer holds even if that frame moves. A list of tips
    takes a list of targets; `relative_to` and `weights` then may be lists, too.

    `seed` is where the search starts and where joints that may not move stay: joint values by
    name (missing ones are at `robot.neutral`) or an array in the order of `robot.joint_names`.
    `group` names the joints that may move; by default all that move the tips. Those named in
    `locked` stay where the seed has them, outside their limits, too: the message then names those
    that are by more than 1e-3. `joint_limits` False lets moving joints leave theirs. The robot
    touches neither itself nor the `scene`, as far as it has geometry: the first call loads it;
    `meshes` says what stands for the robot's meshes, see `robot_geometry`. Meshes that are not
    found raise InvalidSceneError, unless `missing_meshes` is 'skip'. `collisions` False allows
    all contacts; `not_checked` of the solution says what was not looked at.

    `weights` x y z rx ry rz along the target's axes steer the search; 0 frees an axis, which
    then is not counted. In their place, `matlab_weights` are MATLAB's: rx ry rz x y z along the
    axes of the frame that the target is given in. `position_tolerance` [m],
    `orientation_tolerance` [rad]. For the rest see `solve`. `max_time`, `allow_random_restart`
    and `enforce_joint_limits` are MATLAB's names of timeout, allow_restarts and joint_limits.

        robot = Robot.load('panda')
        solution = solve_pose(robot, 'panda_hand_tcp', T_base_target)
        if solution.success:
            print(solution.joints)
        else:
            print(solution.explain())

    Raises IKError (a ValueError) for a malformed question.
    """
    for name in {'problem', 'seeds'} & options.keys():
        raise InvalidOptionError(f"solve_pose has no option '{name}'; solve has")
    check_robot(robot)
    tolerances = (position_tolerance, orientation_tolerance)
    checker = None
    if isinstance(collisions, (bool, np.bool_)) and collisions:    # IKProblem refuses others
        checker = (own_collisions(robot, meshes, missing_meshes).checker if scene is None
                   else collision_checker(robot, scene, meshes, missing_meshes))
    owners: list[tuple[int, str]] = []
    tips, poses = ((tip,), [target]) if type(tip) is str else _as_kept(tip, target)
    fixed = (relative_to, group, *tolerances, joint_limits, collisions, checker is not None)
    if weights is ALL_AXES and matlab_weights is None and tips \
            and type(collisions) is bool and type(locked) is tuple \
            and _PLAIN.issuperset(map(type, (*fixed, *locked))):
        problem = _kept_problem(robot, tips, *fixed, *locked).again(
            poses, robot.neutral if seed is None else seed, checker)
    else:
        wanted, owners = _targets(robot, tip, target, relative_to, weights, matlab_weights,
                                  tolerances)
        problem = IKProblem(robot, wanted, group, seed, locked, joint_limits=joint_limits,
                            checker=checker, collisions=collisions)
    solution = _solve(problem, None, timeout, solver, select, solutions, allow_restarts, winding,
                      approximate, random_state, max_iterations, cancel, progress,
                      max_joint_change, options)
    return solution if matlab_weights is None else one_error_each(solution, owners)


def _is_usual(select: Any, solutions: Any, winding: Any, solver: Any, allow_restarts: Any,
              random_state: Any) -> bool:
    """Return whether the first answer is wanted, by whatever solver finds it."""
    return (type(select) is type(winding) is type(solver) is str and type(solutions) is int
            and select == 'first' and winding == 'seed' and solutions == 1
            and solver in ('auto', 'sqp')
            and type(allow_restarts) is bool
            and (random_state is None or isinstance(random_state, np.random.Generator)
                 or type(random_state) is int and random_state >= 0))


def _as_kept(tip: Any, target: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return several tips and their poses; none where these do not go together."""
    if type(tip) in (list, tuple) and type(target) in (list, tuple) \
            and len(tip) == len(target) and {str}.issuperset(map(type, tip)):
        return tuple(tip), list(target)
    return (), []


@lru_cache(maxsize=64, typed=True)
def _kept_problem(robot: Robot, tips: tuple[str, ...], relative_to: str | None,
                  group: str | None, position_tolerance: float, orientation_tolerance: float,
                  joint_limits: bool, collisions: bool, checked: bool,
                  *locked: str) -> IKProblem:
    """Return the problem of poses, made once; its poses, start and checker say nothing."""
    targets = [PoseTarget(tip, np.eye(4), relative_to, ALL_AXES, position_tolerance,
                          orientation_tolerance) for tip in tips]
    problem = IKProblem(robot, targets, group, None, locked, joint_limits=joint_limits,
                        collisions=collisions and not checked)
    problem.collisions = collisions
    return problem


def _targets(robot: Robot, tip: Any, target: Any, relative_to: Any, weights: Any,
             matlab_weights: Any, tolerances: tuple[float, float]
             ) -> tuple[list[PoseTarget], list[tuple[int, str]]]:
    """Make the targets, and say for each of them the number and name of its tip."""
    several = not isinstance(tip, str)
    tips = [tip] if isinstance(tip, str) else tip
    poses = target if several else [target]
    if not (_is_list(tips) and _is_list(poses)):
        raise InvalidTargetError(f'tip must be a name, or a list of names with a list of targets, '
                                 f'not {tip!r} and a {type(target).__name__}')
    if len(tips) != len(poses):
        raise InvalidTargetError(f'tips: {len(tips)}, targets: {len(poses)}; valid: as many of '
                                 'these as of those')
    frames = _each(relative_to, len(tips), 'relative_to', several and _is_list(relative_to))
    if matlab_weights is None:
        rows = _each(weights, len(tips), 'weights', several and _is_nested(weights))
        return [PoseTarget(name, pose, frame, row, *tolerances) for name, pose, frame, row
                in zip(tips, poses, frames, rows, strict=True)], list(enumerate(tips))
    if weights is not ALL_AXES:
        raise InvalidOptionError('weights and matlab_weights are both given; valid: one of the '
                                 'two')
    rows = _each(matlab_weights, len(tips), 'matlab_weights',
                 several and _is_nested(matlab_weights))
    found = [(one, owner)
             for owner, pose, frame, row in zip(enumerate(tips), poses, frames, rows, strict=True)
             for one in targets_along_base(owner[1], pose, frame, robot.root_frame, row,
                                           tolerances)]
    return [one for one, _ in found], [owner for _, owner in found]


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim == 3


def _is_nested(value: Any) -> bool:
    rows = listed(value) or [0]
    return listed(rows[0]) is not None


def _each(value: Any, count: int, name: str, many: bool) -> list[Any]:
    """One value for every tip: the list given, or the one value repeated."""
    values = list(value) if many else [value] * count
    if len(values) != count:
        raise InvalidTargetError(f'{count} tips but {len(values)} entries of {name}')
    return values
