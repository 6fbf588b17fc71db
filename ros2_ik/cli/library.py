"""Solve goals with the library, without a node."""

import argparse
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from ros2_ik.cli.answer import Answer, print_answer
from ros2_ik.cli.arguments import (
    CommandError,
    Exit,
    load_robot,
    load_scene_of,
    make_checker,
    with_options,
)
from ros2_ik.cli.values import read_start
from ros2_ik.core import CollisionChecker, IKError, Scene
from ros2_ik.core.internals import Defaults, IKRequest, prepare, World
from ros2_ik.messages.constraints import constraint_reports
from ros2_ik.messages.frames import without_tf
from ros2_ik.messages.requests import read_request
from ros2_ik.messages.robot_states import joint_values

DEFAULT_TIMEOUT = 1.0   # default time for a search [s]
NO_TF = 'TF is unavailable'   # reason in errors for frames that robot and scene lack


def read_problem(goal: SimpleNamespace, scene: Scene,
                 checker_of: Callable[[Scene], CollisionChecker]
                 ) -> tuple[IKRequest, CollisionChecker | None]:
    """Return the request of a goal, and its collision checker if needed; raises IKError."""
    if goal.execute:
        raise IKError('execute: only a node moves a robot; valid: --node instead of --robot')
    if goal.straight:
        raise IKError('straight: only a node plans straight motions; valid: `ros2_ik path`')
    return read_request(goal, scene, joint_values(goal.seed, scene.robot),
                        Defaults(default_timeout=DEFAULT_TIMEOUT), without_tf(NO_TF), checker_of)


def solve_here(args: argparse.Namespace, goal: SimpleNamespace, seed: Sequence[str] = (),
               degrees: bool = False) -> Exit:
    """Solve a goal for the robot and scene in `args` and print the answer; raises CommandError."""
    robot, shipped = load_robot(args)
    at = robot.to_q(read_start(seed, robot, shipped, degrees))
    try:
        start = robot.to_q(joint_values(goal.seed, robot), at)
        scene = load_scene_of(args, robot, start)
        request, checker = read_problem(goal, scene, lambda scene: make_checker(robot, scene))
        found = prepare(request, World(robot, at, checker))
        found.run()
    except IKError as error:
        raise CommandError(f'{error.status.name}: {error}') from None
    solution, problem = found.solution(), found.problem
    answer = Answer(
        solution.status.name, with_options(solution.message, args), solution.success,
        robot.to_joints(solution.best_q, problem.joint_names), solution.errors,
        figures={key: getattr(solution, key) for key in (
            'iterations', 'restarts', 'seconds', 'solver', 'solver_reason', 'impossible')},
        alternatives=[robot.to_joints(other.best_q, problem.joint_names)
                      for other in solution.alternatives],
        constraints=constraint_reports(problem, solution.best_q), explanation=solution.explain(),
        not_checked=solution.not_checked)
    print_answer(answer, robot, args.json)
    return answer.exit
