"""Entry points: solve a problem, or bring frames to target poses, once or in a loop."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import as_list, flag, instance
from ros2_ik.core.collision import collision_checker, CollisionChecker, self_collision_check
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem import (
    ALL_AXES,
    IKProblem,
    IKSolution,
    ORIENTATION_TOLERANCE,
    PoseTarget,
    POSITION_TOLERANCE,
)
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers.options import DEFAULTS, SolveOptions
from ros2_ik.core.solvers.search import chosen_solver, Search
from ros2_ik.core.solvers.solver import make_solver


def solve(problem: IKProblem, seeds: Sequence[JointValues] | None = None,
          **options: Any) -> IKSolution:
    """
    Solve a problem; descents begin at the seeds in order, by default at the problem's start.

    The options are those of `SolveOptions` and of the solver. If no solution is found, the status
    of the result gives the reason. Raises IKError for invalid arguments.
    """
    search = Search(problem, seeds, options=_options_of(options))
    search.run()
    return search.solution()


def solve_pose(robot: Robot, tip: str | Sequence[str], target: Pose | Sequence[Pose],
               seed: JointValues | None = None, *,
               relative_to: str | Sequence[str | None] | None = None, group: str | None = None,
               locked: Iterable[str] = (),
               weights: Sequence[float | Sequence[float]] | Array = ALL_AXES,
               position_tolerance: float = POSITION_TOLERANCE,
               orientation_tolerance: float = ORIENTATION_TOLERANCE,
               joint_limits: bool = True, scene: Scene | None = None, meshes: str = 'exact',
               missing_meshes: str = 'refuse', collisions: bool = True,
               **options: Any) -> IKSolution:
    """
    Find joint values that bring the frame `tip` to the pose `target`.

    `target` is a (4, 4) array or pinocchio.SE3: the pose of `tip` in the frame `relative_to`
    (default: the root frame), which may be a moving frame. For a list of tips, `target` is a list,
    and `relative_to` and `weights` may be lists. Tips and frames may also be objects of the
    `scene` and their subframes.

    `seed` has joint values, by name (other joints are at `robot.neutral`) or as an array (nq,).
    The search starts there; joints that do not move keep these values.
    `group` names the group of joints that may move; by default all joints that move the tips.
    Joints in `locked` stay at the seed, even outside their limits. `joint_limits` False ignores
    the limits of the other joints; otherwise the message of the solution names joints that exceed
    a limit in the seed by more than 1e-3 [rad, m].

    A solution has no contact of the robot with itself or the `scene`. The first call loads the
    geometry; `meshes` selects the collision geometry of mesh files, see `robot_geometry`. A
    missing mesh file raises InvalidSceneError unless `missing_meshes` is 'skip'. `collisions`
    False allows all contacts. The solution's `not_checked` lists gaps in the collision check.

    `weights` (x y z rx ry rz, along the axes of the target) scale the error rows; an axis of
    weight 0 is free. (MATLAB: rx ry rz x y z, along the axes of the base.) `position_tolerance`
    [m] and `orientation_tolerance` [rad] bound the errors, see `PoseTarget`. For the other options
    see `solve`.

        robot = Robot.load('panda')
        solution = solve_pose(robot, 'panda_hand_tcp', T_base_target)
        if solution.success:
            print(solution.joints)
        else:
            print(solution.explain())

    Raises IKError (a ValueError) for invalid arguments.
    """
    if isinstance(scene, Scene) and isinstance(robot, Robot):
        robot = scene.framed_robot(_frame_names(tip, relative_to), robot)
    arguments = (robot, _hashable(tip), _hashable(relative_to), group, _hashable(locked),
                 _hashable(weights), position_tolerance, orientation_tolerance, joint_limits,
                 meshes, missing_meshes, collisions)
    try:
        solver = _cached_solver(*arguments)
    # unhashable arguments: a list of lists (valid weights), or values that PoseSolver rejects
    except TypeError:
        solver = PoseSolver(*arguments)
    return solver.solve(target, seed, scene, _options_of(options))


@dataclass(frozen=True, eq=False)
class PoseSolver:
    """
    Finds joint values for a sequence of target poses of `tips`; all preparations are done once.

    The fields are arguments of `solve_pose`, which caches 32 PoseSolvers; all fields but `scene`
    and `options` are the cache key. `options` apply to each search.

        solver = PoseSolver(robot, 'tool0', options=SolveOptions(timeout=0.01))
        for T_base_target in poses:
            solution = solver.solve(T_base_target, seed)

    Raises IKError for invalid arguments.
    """

    robot: Robot
    tips: str | Sequence[str]
    relative_to: str | Sequence[str | None] | None = None
    group: str | None = None
    locked: Iterable[str] = ()
    weights: Sequence[float | Sequence[float]] | Array = ALL_AXES
    position_tolerance: float = POSITION_TOLERANCE
    orientation_tolerance: float = ORIENTATION_TOLERANCE
    joint_limits: bool = True
    meshes: str = 'exact'
    missing_meshes: str = 'refuse'
    collisions: bool = True
    scene: Scene | None = None
    options: SolveOptions = field(default_factory=lambda: DEFAULTS)
    # `solve` works on copies of this problem with other poses, start and checker
    _problem: IKProblem = field(init=False, repr=False)

    def __post_init__(self) -> None:
        instance(self.robot, Robot, 'robot', InvalidOptionError)
        instance(self.options, SolveOptions, 'options', InvalidOptionError)
        tips, several = _names(self.tips), not isinstance(self.tips, str)
        frames = _per_tip(self.relative_to, len(tips), 'relative_to',
                          several and isinstance(self.relative_to, (list, tuple)))
        has_rows = as_list((as_list(self.weights) or [0])[0]) is not None
        rows = _per_tip(self.weights, len(tips), 'weights', several and has_rows)
        targets = [PoseTarget(tip, np.eye(4), frame, row, self.position_tolerance,
                              self.orientation_tolerance)
                   for tip, frame, row in zip(tips, frames, rows, strict=True)]
        collisions = flag(self.collisions, 'collisions', InvalidOptionError)
        problem = IKProblem(self.robot, targets, self.group, None, self.locked,
                            joint_limits=self.joint_limits, collisions=collisions,
                            checker=self._checker(self.scene) if collisions else None)
        # raises errors of the options, and compiles the solver's loops; not by a Search, which
        # would draw from a generator in `random_state`
        make_solver(chosen_solver(self.options.solver, problem)[0], problem,
                    self.options.solver_options)
        self.__dict__.update(_problem=problem)

    def solve(self, target: Pose | Sequence[Pose], seed: JointValues | None = None,
              scene: Scene | None = None, options: SolveOptions | None = None) -> IKSolution:
        """
        Find joint values that bring the tips to `target`, starting at `seed`; see `solve_pose`.

        `scene` and `options` replace those of this solver for one call.
        """
        problem = self._problem.with_poses(
            [target] if isinstance(self.tips, str) else target, seed,
            self._checker(scene) if self.collisions and scene is not None else None)
        search = Search(problem, options=self.options if options is None else options)
        search.run()
        return search.solution()

    def _checker(self, scene: Scene | None) -> CollisionChecker | None:
        """Return the collision checker of the robot in `scene` (None: of the robot alone)."""
        given = self.meshes, self.missing_meshes
        return (self_collision_check(self.robot, *given).checker if scene is None
                else collision_checker(self.robot, scene, *given))


_cached_solver = lru_cache(maxsize=32, typed=True)(PoseSolver)


def _options_of(given: dict[str, Any]) -> SolveOptions:
    # cached: checking a few options would take 3 us in each call of `solve_pose`
    try:
        return _cached_options(**given)
    # unhashable values
    except TypeError:
        return SolveOptions.of(given)


@lru_cache(maxsize=32, typed=True)
def _cached_options(**options: Any) -> SolveOptions:
    return SolveOptions.of(options)


def _hashable(value: object) -> Any:
    """Return a value as part of a cache key: lists and arrays become tuples."""
    if value is None or type(value) in (str, tuple) or isinstance(value, Mapping):
        return value
    items = as_list(value)
    return value if items is None else tuple(items)


def _frame_names(*named: object) -> list[str]:
    """Return all strings among the arguments and in their lists; ignore other values."""
    given = [[one] if isinstance(one, str) else as_list(one) or [] for one in named]
    return [name for names in given for name in names if isinstance(name, str)]


def _names(tip: object) -> list[str]:
    names = [tip] if isinstance(tip, str) else as_list(tip)
    if not names:
        raise InvalidTargetError(f'tip must be a name, or a list of names with a list of targets, '
                                 f'not {tip!r}')
    return names


def _per_tip(value: object, count: int, name: str, many: bool) -> list[Any]:
    """Return one value for each tip: the items of a list (`many`), or one value repeated."""
    values = (as_list(value) or []) if many else [value] * count
    if len(values) != count:
        raise InvalidTargetError(f'{count} tips but {len(values)} entries of {name}')
    return values
