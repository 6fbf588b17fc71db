"""Solve a problem, or bring frames to poses: once in one line, or again and again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.checks import flag, listed
from ros2_ik.core.collision import collision_checker, CollisionChecker, own_collisions
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
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers.options import DEFAULTS, SolveOptions
from ros2_ik.core.solvers.search import chosen_solver, Search
from ros2_ik.core.solvers.solver import make_solver, Solver


def solve(problem: IKProblem, seeds: Sequence[JointValues] | None = None,
          **options: Any) -> IKSolution:
    """
    Solve a problem; the seeds, by default the problem's start, are tried first, in order.

    The options are those of `SolveOptions` and of the solver; `max_time` and
    `allow_random_restart` are MATLAB's names of timeout and allow_restarts.

    Not finding an answer is a status of the solution. Raises IKError for a malformed question.
    """
    return _answer(problem, seeds, SolveOptions.of(options))


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
    Find joint values that bring `tip` to `target`.

    `target` is a (4, 4) array or pinocchio.SE3: the pose of `tip` in the frame `relative_to`
    (default: the root frame), which in the answer holds even if that frame moves. A list of tips
    takes a list of targets; `relative_to` and `weights` then may be lists, too. Objects of the
    `scene` and their subframes are frames like those of the robot.

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
    then is not counted (MATLAB has rx ry rz x y z, along the axes of the base).
    `position_tolerance` [m], `orientation_tolerance` [rad]. For the other options see `solve`.

        robot = Robot.load('panda')
        solution = solve_pose(robot, 'panda_hand_tcp', T_base_target)
        if solution.success:
            print(solution.joints)
        else:
            print(solution.explain())

    Raises IKError (a ValueError) for a malformed question.
    """
    if 'enforce_joint_limits' in options:
        if joint_limits is not True:
            raise InvalidOptionError('enforce_joint_limits is another name of joint_limits; '
                                     'valid: one of the two')
        joint_limits = options.pop('enforce_joint_limits')
    if isinstance(scene, Scene) and isinstance(robot, Robot):
        robot = scene.framed_robot(_frame_names(tip, relative_to), robot)
    question = (robot, _fixed(tip), _fixed(relative_to), group, _fixed(locked), _fixed(weights),
                position_tolerance, orientation_tolerance, joint_limits, meshes, missing_meshes,
                collisions)
    try:
        solver = _kept(*question)
    except TypeError:    # what cannot be a key: lists of weights, and much that is refused
        solver = PoseSolver(*question)
    return solver.solve(target, seed, scene, SolveOptions.of(options) if options else DEFAULTS)


@dataclass(frozen=True, eq=False)
class PoseSolver:
    """
    Brings `tips` of a robot to poses again and again; what can be prepared is prepared once.

    The fields are arguments of `solve_pose`, which keeps one of these for each kind of question;
    `options` are those of each search.

        solver = PoseSolver(robot, 'tool0', options=SolveOptions(timeout=0.01))
        for T_base_target in poses:
            solution = solver.solve(T_base_target, seed)

    Raises IKError for a malformed question.
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
    _problem: IKProblem = field(init=False, repr=False)     # whose poses and start are replaced
    _solver: Solver | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_robot(self.robot)
        tips, several = _names(self.tips), not isinstance(self.tips, str)
        frames = _each(self.relative_to, len(tips), 'relative_to',
                       several and isinstance(self.relative_to, (list, tuple)))
        has_rows = listed((listed(self.weights) or [0])[0]) is not None
        rows = _each(self.weights, len(tips), 'weights', several and has_rows)
        targets = [PoseTarget(tip, np.eye(4), frame, row, self.position_tolerance,
                              self.orientation_tolerance)
                   for tip, frame, row in zip(tips, frames, rows, strict=True)]
        collisions = flag(self.collisions, 'collisions', InvalidOptionError)
        problem = IKProblem(self.robot, targets, self.group, None, self.locked,
                            joint_limits=self.joint_limits, collisions=collisions,
                            checker=self._checker(self.scene) if collisions else None)
        name, _ = chosen_solver(self.options.solver, problem)
        solver = make_solver(name, problem, dict(self.options.solver_options))
        self.__dict__.update(_problem=problem, _solver=solver if solver.finds_starts else None)

    def solve(self, target: Pose | Sequence[Pose], seed: JointValues | None = None,
              scene: Scene | None = None, options: SolveOptions | None = None) -> IKSolution:
        """
        Find joint values that bring the tips to `target`, from `seed`; see `solve_pose`.

        In another scene or with other options, if these are given.
        """
        problem = self._problem.again(
            [target] if isinstance(self.tips, str) else target, seed,
            self._checker(scene) if self.collisions and scene is not None else None)
        own = self.options
        asked = own if options is None else options
        is_own = asked is own or (isinstance(asked.solver, str) and asked.solver == own.solver
                                  and not (asked.solver_options or own.solver_options))
        return _answer(problem, None, asked, self._solver if is_own else None)

    def _checker(self, scene: Scene | None) -> CollisionChecker | None:
        """Return the checker of a scene, by default of the robot alone."""
        given = self.meshes, self.missing_meshes
        return (own_collisions(self.robot, *given).checker if scene is None
                else collision_checker(self.robot, scene, *given))


@lru_cache(maxsize=32, typed=True)
def _kept(*question: Any) -> PoseSolver:
    return PoseSolver(*question)


def _answer(problem: IKProblem, seeds: Sequence[JointValues] | None, options: SolveOptions,
            prepared: Solver | None = None) -> IKSolution:
    search = Search(problem, seeds, options=options, prepared=prepared)
    search.run()
    return search.solution()


def _fixed(value: object) -> Any:
    """Return an immutable value, for the key of a cache."""
    if value is None or type(value) in (str, tuple) or isinstance(value, Mapping):
        return value
    items = listed(value)
    return value if items is None else tuple(items)


def _frame_names(*named: object) -> list[str]:
    """Return the names in values that are names or lists of names; the rest is refused later."""
    given = [[one] if isinstance(one, str) else listed(one) or [] for one in named]
    return [name for names in given for name in names if isinstance(name, str)]


def _names(tip: object) -> list[str]:
    names = [tip] if isinstance(tip, str) else listed(tip)
    if not names:
        raise InvalidTargetError(f'tip must be a name, or a list of names with a list of targets, '
                                 f'not {tip!r}')
    return names


def _each(value: object, count: int, name: str, many: bool) -> list[Any]:
    """Return a value for every tip: the list given, or one value repeated."""
    values = (listed(value) or []) if many else [value] * count
    if len(values) != count:
        raise InvalidTargetError(f'{count} tips but {len(values)} entries of {name}')
    return values
