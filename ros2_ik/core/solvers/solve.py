"""The doors: solve a problem, or one pose in one line."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, JointValues, Pose
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem import ALL_AXES, IKProblem, IKSolution, PoseTarget
from ros2_ik.core.robot import Robot
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.search import Search


def solve(problem: IKProblem, seeds: Sequence[JointValues] | None = None, *, timeout: float = 0.05,
          solver: str = 'auto', select: str = 'first', solutions: int = 1,
          allow_restarts: bool = True,
          random_state: int | np.random.Generator | None = None,
          max_iterations: int | None = None, cancel: Any = None,
          progress: Callable[[float, int], None] | None = None, **options: Any) -> IKSolution:
    """
    Solve a problem within `timeout` seconds.

    `seeds` are tried first, in order; by default the problem's start. `solver` is a name of
    `solver_names()`, or 'auto', which chooses by the problem's shape and says why in the
    solution. `select` is 'first' or 'nearest' (to the first seed; uses up the time). `solutions`
    is how many different answers are wanted. `max_iterations` bounds all attempts together.
    `cancel` is an event or callable, `progress(error, attempts)` is called after each attempt.
    Further options go to the solver.

    Not finding an answer is a status of the solution. Raises IKError for a malformed question.
    """
    budget = Budget.of(timeout, max_iterations, cancel, progress)
    search = Search(problem, seeds, solver=solver, select=select, solutions=solutions,
                    allow_restarts=allow_restarts, random_state=random_state, budget=budget,
                    options=options)
    search.run()
    return search.solution()


def solve_pose(robot: Robot, tip: str | Sequence[str], target: Pose | Sequence[Pose],
               seed: JointValues | None = None, *,
               relative_to: str | Sequence[str | None] | None = None, group: str | None = None,
               locked: Iterable[str] = (), timeout: float = 0.05,
               weights: Sequence[Any] | Array = ALL_AXES,
               position_tolerance: float = 1e-5, orientation_tolerance: float = 1e-4,
               allow_restarts: bool = True, solver: str = 'auto', select: str = 'first',
               solutions: int = 1, random_state: int | np.random.Generator | None = None,
               max_iterations: int | None = None, cancel: Any = None,
               progress: Callable[[float, int], None] | None = None,
               **options: Any) -> IKSolution:
    """
    Find joint values that bring `tip` to `target`.

    `target` is a (4, 4) array or pinocchio.SE3: the pose of `tip` in the frame `relative_to`
    (default: the root frame), which in the answer holds even if that frame moves. A list of tips
    takes a list of targets; `relative_to` and `weights` then may be lists, too.

    `seed` is where the search starts and where joints that may not move stay: joint values by
    name (missing ones are at `robot.neutral`) or an array in the order of `robot.joint_names`.
    `group` names the joints that may move; by default all that move the tips. Those named in
    `locked` stay where the seed has them.

    `weights` x y z rx ry rz along the target's axes steer the search; 0 frees an axis, which
    then is not counted. `position_tolerance` [m], `orientation_tolerance` [rad]. For the rest
    see `solve`.

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
    several = not isinstance(tip, str)
    tips = [tip] if isinstance(tip, str) else tip
    targets = target if several else [target]
    if not (_is_list(tips) and _is_list(targets)):
        raise InvalidTargetError(f'tip must be a name, or a list of names with a list of targets, '
                                 f'not {tip!r} and a {type(target).__name__}')
    if len(tips) != len(targets):
        raise InvalidTargetError(f'{len(tips)} tips but {len(targets)} targets')
    frames = _each(relative_to, len(tips), 'relative_to', several and _is_list(relative_to))
    all_weights = _each(weights, len(tips), 'weights', several and np.ndim(weights) == 2)
    problem = IKProblem(robot, [
        PoseTarget(name, pose, frame, row, position_tolerance, orientation_tolerance)
        for name, pose, frame, row in zip(tips, targets, frames, all_weights, strict=True)
    ], group, seed, locked)
    return solve(problem, timeout=timeout, solver=solver, select=select, solutions=solutions,
                 allow_restarts=allow_restarts, random_state=random_state,
                 max_iterations=max_iterations, cancel=cancel, progress=progress, **options)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim == 3


def _each(value: Any, count: int, name: str, listed: bool) -> list[Any]:
    """One value for every tip: the list given, or the one value repeated."""
    values = list(value) if listed else [value] * count
    if len(values) != count:
        raise InvalidTargetError(f'{count} tips but {len(values)} entries of {name}')
    return values
