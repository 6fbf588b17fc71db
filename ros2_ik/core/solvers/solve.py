"""Solve a problem, or bring frames to poses in one line."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import listed
from ros2_ik.core.collision import collision_checker, own_collisions
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError, UnknownOptionError
from ros2_ik.core.problem import (
    ALL_AXES,
    IKProblem,
    IKSolution,
    ORIENTATION_TOLERANCE,
    PoseTarget,
    POSITION_TOLERANCE,
)
from ros2_ik.core.robot import check_robot, Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers.matlab_names import one_error_each, targets_along_base
from ros2_ik.core.solvers.options import MATLAB_OPTIONS, NAMES, SolveOptions
from ros2_ik.core.solvers.search import Search

_PLAIN = frozenset((str, float, int, bool, type(None)))    # what can be told apart by a cache
_OF_QUESTION = ('relative_to', 'group', 'locked', 'weights', 'matlab_weights',
                'position_tolerance', 'orientation_tolerance', 'joint_limits',
                'enforce_joint_limits', 'scene', 'meshes',
                'missing_meshes', 'collisions')


def solve(problem: IKProblem, seeds: Sequence[JointValues] | None = None,
          **options: Any) -> IKSolution:
    """
    Solve a problem; the seeds, by default the problem's start, are tried first, in order.

    The options are those of `SolveOptions` and of the solver; `max_time` and
    `allow_random_restart` are MATLAB's names of timeout and allow_restarts.

    Not finding an answer is a status of the solution. Raises IKError for a malformed question.
    """
    return _solution(problem, seeds, options, ())


def solve_pose(robot: Robot, tip: str | Sequence[str], target: Pose | Sequence[Pose],
               seed: JointValues | None = None, *,
               relative_to: str | Sequence[str | None] | None = None, group: str | None = None,
               locked: Iterable[str] = (), weights: Sequence[Any] | Array = ALL_AXES,
               matlab_weights: Sequence[Any] | Array | None = None,
               position_tolerance: float = POSITION_TOLERANCE,
               orientation_tolerance: float = ORIENTATION_TOLERANCE,
               joint_limits: bool = True, scene: Scene | None = None, meshes: str = 'exact',
               missing_meshes: str = 'refuse', collisions: bool = True,
               **options: Any) -> IKSolution:
    """
    Find joint values that bring `tip` to `target`.

    `target` is a (4, 4) array or pinocchio.SE3: the pose of `tip` in the frame `relative_to`
    (default: the root frame), which in the answer holds even if that frame moves. A list of tips
    takes a list of targets; `relative_to` and `weights` then may be lists, too.

    `seed` is where the search starts and where joints that may not move stay: joint values by
    name (missing ones are at `robot.neutral`) or an array in the order of `robot.joint_names`.
    The robot touches neither itself nor the `scene`, as far as it has geometry: the first call
    loads it; `meshes` says what stands for the robot's meshes, see `robot_geometry`. Meshes that
    are not found raise InvalidSceneError, unless `missing_meshes` is 'skip'. `collisions` False
    allows all contacts; `not_checked` of the solution says what was not looked at.

    `group` names the joints that may move; by default all that move the tips. Those named in
    `locked` stay at the seed even outside their limits; the message names those that are by more
    than 1e-3. `joint_limits` False (MATLAB's `enforce_joint_limits`) lets moving
    joints leave theirs.
    `weights` x y z rx ry rz along the target's axes steer the search; 0 frees an axis, which
    then is not counted. In their place, `matlab_weights` are MATLAB's: rx ry rz x y z along the
    axes of the frame that the target is given in. `position_tolerance` [m],
    `orientation_tolerance` [rad]. For the other options see `solve`.

        robot = Robot.load('panda')
        solution = solve_pose(robot, 'panda_hand_tcp', T_base_target)
        if solution.success:
            print(solution.joints)
        else:
            print(solution.explain())

    Raises IKError (a ValueError) for a malformed question.
    """
    check_robot(robot)
    if 'enforce_joint_limits' in options:
        if joint_limits is not True:
            raise InvalidOptionError('enforce_joint_limits is another name of joint_limits; '
                                     'valid: one of the two')
        joint_limits = options.pop('enforce_joint_limits')
    tolerances = position_tolerance, orientation_tolerance
    checker = None
    if isinstance(collisions, (bool, np.bool_)) and collisions:    # IKProblem refuses others
        checker = (own_collisions(robot, meshes, missing_meshes).checker if scene is None
                   else collision_checker(robot, scene, meshes, missing_meshes))
    owners: list[tuple[int, str]] = []
    tips, poses = ((tip,), [target]) if type(tip) is str else _listed(tip, target)
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
    solution = _solution(problem, None, options, _OF_QUESTION)
    return solution if matlab_weights is None else one_error_each(solution, owners)


def _solution(problem: IKProblem, seeds: Any, options: dict[str, Any],
              others: Sequence[str]) -> IKSolution:
    try:
        search = Search(problem, seeds, options=SolveOptions.of(options))
    except UnknownOptionError as error:
        raise UnknownOptionError(error.option, error.solver, [
            *error.valid, *NAMES, *MATLAB_OPTIONS, *others]) from None
    search.run()
    return search.solution()


def _listed(tip: Any, target: Any) -> tuple[tuple[str, ...], list[Any]]:
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
    """Return the problem of poses, made once; its poses, start and checker are placeholders."""
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
