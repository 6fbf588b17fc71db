"""`ros2_ik constrained`: joint values for a problem file with constraints and costs."""

import argparse
import sys
from types import SimpleNamespace

from ros2_ik.cli.answer import add_json_argument, print_answer
from ros2_ik.cli.arguments import (
    add_robot_arguments,
    BadQuestion,
    Commands,
    Exit,
    positive,
    refuse_robot_arguments,
)

EXAMPLE = """examples:
  ros2_ik constrained examples/ros/upright_tray.yaml --robot panda
  ros2_ik constrained examples/ros/upright_tray.yaml --node /ros2_ik"""


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'constrained', help='joint values under constraints and costs', epilog=EXAMPLE,
        description='Solve a problem file, whose fields are those of a goal of the action '
                    'solve_constrained_ik. With --robot the library solves the problem, without '
                    '--robot a running node does; then Ctrl-C ends the search and prints the best '
                    'attempt.')
    parser.add_argument('file', metavar='FILE', help='the goal as YAML')
    parser.add_argument('--node', help='full name of the node (default: /ros2_ik)')
    parser.add_argument('--wait', type=positive, default=5.0, metavar='S',
                        help='seconds to wait for the action (default: %(default)g)')
    add_robot_arguments(parser, '--robot', help='solve here for a shipped robot or URDF file')
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Solve the problem and print the answer; returns the exit code."""
    from ros2_ik.cli.goal_file import goal_of, read_content
    goal = goal_of(read_content(args.file))
    if args.robot is None:
        return _ask(args, goal)
    if args.node:
        raise BadQuestion('--robot and --node are both given; valid: --robot to solve here, or '
                          '--node to ask a node')
    from ros2_ik.cli.library import solve_here
    return solve_here(args, goal)


def _ask(args: argparse.Namespace, goal: SimpleNamespace) -> Exit:
    refuse_robot_arguments(args)
    from ros2_ik.cli.goal_client import ask_goal
    from ros2_ik.cli.node_client import NodeClient
    with NodeClient(args.node or '/ros2_ik') as client:
        answer = ask_goal(client, goal, args.wait, show=lambda line: print(line, file=sys.stderr))
        print_answer(answer, client.robot(0.0), args.json)
    return answer.exit
