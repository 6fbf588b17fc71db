"""`ros2_ik constrained`: joint values for a problem with constraints and costs."""

import argparse
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.answer import (
    add_json_argument,
    Answer,
    library_answer,
    print_answer,
    WantedPose,
)
from ros2_ik.cli.arguments import (
    add_meshes_argument,
    add_robot_arguments,
    add_scene_argument,
    load_robot,
    load_scene_of,
    make_checker,
    positive,
)
from ros2_ik.cli.joint_values import read_start
from ros2_ik.cli.question import BadQuestion, Exit

if TYPE_CHECKING:
    from ros2_ik.core import Robot

EXAMPLE = """examples:
  ros2_ik constrained examples/ros/upright_tray.yaml --robot panda
  ros2_ik constrained examples/ros/upright_tray.yaml --node /ros2_ik"""

TIMEOUT = 1.0   # of a search here, where the goal gives none [s]


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'constrained', help='joint values under constraints and costs', epilog=EXAMPLE,
        description='Solve a problem whose fields are those of a goal of the action '
                    'solve_constrained_ik: with the library for --robot, else by a running node; '
                    'then Ctrl-C ends the search, and the best so far is printed.')
    parser.add_argument('file', metavar='FILE', help='the goal as YAML')
    parser.add_argument('--node', help='full name of the node (default: /ros2_ik)')
    parser.add_argument('--wait', type=positive, default=10.0, metavar='S',
                        help='seconds to wait for the action (default: %(default)g)')
    add_robot_arguments(parser, '--robot', help='solve here for a shipped robot or URDF file')
    add_scene_argument(parser, 'with --robot: scene that distances and collisions are about (a '
                               'shipped one, or a YAML file; default: an empty one)')
    add_meshes_argument(parser)
    parser.add_argument('--print-goal', action='store_true',
                        help='only print the goal, as `ros2 action send_goal` takes it')
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Solve and print; returns the exit code."""
    from ros2_ik.cli.goal_file import goal_text, read_goal
    if args.print_goal:
        print(goal_text(args.file), end='')
        return Exit.ANSWERED
    goal = read_goal(args.file)
    if args.robot is None:
        return _ask(args, goal)
    if args.node:
        raise BadQuestion('--robot and --node are both given: the one solves here, the other '
                          'asks a node')
    robot, shipped = load_robot(args)
    answer = _solve(args, goal, robot, shipped.home if shipped else None)
    print_answer(answer, robot, args.json)
    return answer.exit


def _ask(args: argparse.Namespace, goal: Any) -> Exit:
    if args.scene or args.meshes or args.srdf or args.package_dir or args.root_joint:
        raise BadQuestion('--scene, --meshes, --srdf, --package-dir and --root-joint go with '
                          '--robot; a node has its own')
    try:
        import rclpy  # noqa: F401  (first, so that it is named where ROS is missing)
    except ModuleNotFoundError as error:
        raise BadQuestion(f'{error.name} is missing, and without --robot a node is asked: source '
                          'ROS and the built workspace (. install/setup.bash), run it as: '
                          'tools/run ros2_ik ..., or name a robot') from None

    from ros2_ik.cli.goal_client import ask_goal
    from ros2_ik.cli.node_client import NodeClient
    with NodeClient(args.node or '/ros2_ik') as client:
        answer = ask_goal(client, goal, args.wait)
        print_answer(answer, client.robot(0.0), args.json)
    return answer.exit


def _solve(args: argparse.Namespace, goal: Any, robot: 'Robot', home: Any) -> Answer:
    """Solve with the library what a node would make of the goal."""
    from ros2_ik.core import IKError
    try:
        return _solved(args, goal, robot, home)
    except IKError as error:
        raise BadQuestion(f'{error.status.name}: {error}') from None


def _solved(args: argparse.Namespace, goal: Any, robot: 'Robot', home: Any) -> Answer:
    from ros2_ik.cli.problem import read_problem
    from ros2_ik.core import prepare, StaticWorld
    from ros2_ik.messages.constraints import constraint_reports
    at = robot.to_q(read_start([], robot, home, degrees=False))
    if goal.execute:
        raise BadQuestion('execute: the robot is moved by a node: leave out --robot')
    request, checker = read_problem(
        goal, robot, at, TIMEOUT, lambda start: load_scene_of(args, robot, start),
        lambda scene: make_checker(robot, scene, args.meshes))
    search = prepare(request, StaticWorld(robot, at, checker))
    search.run()
    wanted = [WantedPose(target.tip, target.function.reference.homogeneous, target.relative_to,
                         tuple(target.weights)) for target in request.targets]
    problem = search.problem
    answer = library_answer(search, wanted, None if request.follow_frames else problem.start)
    solution = search.solution()
    answer.constraints = constraint_reports(problem, solution.best_q)
    answer.explanation = solution.explain()
    return answer
