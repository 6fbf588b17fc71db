"""`ros2_ik call` and `stop`: ask a running node for joint values, move and stop the robot."""

import argparse

from ros2_ik.cli.answer import add_json_argument, print_answer
from ros2_ik.cli.arguments import add_node_arguments, Commands, Exit, with_options
from ros2_ik.cli.solve import add_search_arguments, goal_fields
from ros2_ik.cli.values import add_target_arguments, HELP, read_joint_values

EXAMPLE = """examples:
  ros2_ik call --xyz 0.4 0.1 0.5 --rpy 180 0 0 --deg
  ros2_ik call --node /left/ros2_ik --tip tool0 --xyz 0 0 0.1 --quat 0 0 0 1 --relative-to tool0"""


def add_parser(commands: Commands) -> None:
    """Add the subcommands."""
    parser = commands.add_parser(
        'call', help='ask a running node for joint values', epilog=EXAMPLE,
        description='Ask a running node for joint values.')
    add_node_arguments(parser, 'the node, and then for the robot and its collision geometry')
    add_target_arguments(parser)
    parser.add_argument('--seed', nargs='+', metavar='S', default=[],
                        help=f'{HELP}; other joints start at their values in joint_states')
    add_search_arguments(parser)
    parser.add_argument('--execute', action='store_true',
                        help='move the robot to the solution if the path is free (with '
                             '--allow-collisions the path is not checked); Ctrl-C stops the robot')
    parser.add_argument('--straight', action='store_true',
                        help='move the tip along a straight line')
    parser.add_argument('--tip-speed', type=float, default=0.0, metavar='V',
                        help='maximum speed of the tip with --straight [m/s] (default: limited by '
                             'the joints only)')
    add_json_argument(parser)
    parser.set_defaults(run=run)
    stop = commands.add_parser(
        'stop', help='stop the robot of a running node',
        description='Stop all motions that a running node has started, including those that other '
                    'clients requested.')
    add_node_arguments(stop)
    stop.set_defaults(run=run_stop)


def run(args: argparse.Namespace) -> Exit:
    """Ask the node and print the answer; returns the exit code."""
    from ros2_ik.cli.goal_client import ask_goal
    from ros2_ik.cli.goal_file import goal_of
    from ros2_ik.cli.node_client import NodeClient
    goal = goal_of({**goal_fields(args), 'execute': args.execute, 'straight': args.straight,
                    'tip_speed': args.tip_speed})
    with NodeClient(args.node) as client:
        seed = read_joint_values(args.seed, client.needed_robot(args.wait), None,
                                 args.deg) if args.seed else {}
        answer = ask_goal(client, goal, args.wait, seed)
        answer.message = with_options(answer.message, args)
        print_answer(answer, None if args.json else client.robot(0.0), args.json)
    return answer.exit


def run_stop(args: argparse.Namespace) -> Exit:
    """Stop the robot and print the node's response; returns the exit code."""
    from std_srvs.srv import Trigger

    from ros2_ik.cli.node_client import NodeClient, STOP_TIMEOUT
    with NodeClient(args.node) as client:
        service = client.connect(Trigger, 'stop', args.wait)
        response = client.ask(service, Trigger.Request(), STOP_TIMEOUT)
    print(response.message)
    return Exit.ANSWERED if response.success else Exit.NO_SOLUTION
