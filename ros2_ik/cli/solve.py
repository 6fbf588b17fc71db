"""`ros2_ik solve`, `constrained` and `call`: search for joint values. `stop`: stop the robot."""

import argparse
import math
import sys

from ros2_ik.cli.answer import add_json_argument, print_answer
from ros2_ik.cli.arguments import (
    add_node_arguments,
    add_robot_arguments,
    Commands,
    Exit,
    in_radians,
    in_range,
    positive,
    reject_robot_arguments,
    with_options,
)
from ros2_ik.cli.values import add_target_arguments, HELP, read_joint_values, START, target_fields

EXAMPLE = """examples:
  ros2_ik solve panda --xyz 0.4 0.1 0.5 --rpy 180 0 0 --deg
  ros2_ik solve my_arm.urdf --tip tool0 --xyz 0.4 0.1 0.5 --quat 1 0 0 0 --seed joint_2=-0.7
  ros2_ik solve panda --scene table --xyz 0.5 0.1 0.4 --rpy 180 0 0 --deg"""
FILE_EXAMPLE = """examples:
  ros2_ik constrained examples/ros/upright_tray.yaml --robot panda
  ros2_ik constrained examples/ros/upright_tray.yaml --node /ros2_ik"""
CALL_EXAMPLE = """examples:
  ros2_ik call --xyz 0.4 0.1 0.5 --rpy 180 0 0 --deg
  ros2_ik call --node /left/ros2_ik --tip tool0 --xyz 0 0 0.1 --quat 0 0 0 1 --relative-to tool0"""
# options that are copied to the goal's field of the same name
FIELDS = ('group', 'select', 'solutions', 'random_state', 'execute', 'straight', 'tip_speed')


def add_parser(commands: Commands) -> None:
    """Add the subcommands."""
    parser = commands.add_parser(
        'solve', help='joint values for target poses', epilog=EXAMPLE,
        description='Find joint values that bring frames of a robot to target poses.')
    add_robot_arguments(parser)
    add_target_arguments(parser)
    parser.add_argument('--seed', nargs='+', metavar='S', default=[],
                        help=f'start of the search: {HELP}; {START}')
    add_search_arguments(parser)
    add_json_argument(parser)
    parser.set_defaults(run=run)
    constrained = commands.add_parser(
        'constrained', help='joint values under constraints and costs', epilog=FILE_EXAMPLE,
        description='Solve a problem file, whose fields are those of a goal of the action '
                    'solve_constrained_ik. With --robot the library solves the problem, otherwise '
                    'a running node; Ctrl-C then ends the search with the best attempt.')
    constrained.add_argument('file', metavar='FILE', help='the goal as YAML')
    add_node_arguments(constrained, 'the action')
    add_robot_arguments(constrained, '--robot',
                        help='shipped robot, URDF or xacro file: solve without a node')
    add_json_argument(constrained)
    constrained.set_defaults(run=run_constrained, node=None)    # None: not given
    call = commands.add_parser(
        'call', help='joint values for target poses, from a running node', epilog=CALL_EXAMPLE,
        description='Request joint values for target poses from a running node.')
    add_node_arguments(call, 'the node, and then for the robot and its collision geometry')
    add_target_arguments(call)
    call.add_argument('--seed', nargs='+', metavar='S', default=[],
                      help='joint=value ... [rad, m], or the name of a state in the SRDF; other '
                           'joints start at their values in joint_states')
    add_search_arguments(call)
    call.add_argument('--execute', action='store_true',
                      help='move the robot to the solution if the path is collision-free (not '
                           'checked with --allow-collisions); Ctrl-C stops the robot')
    call.add_argument('--straight', action='store_true', help='move the tip along a straight line')
    call.add_argument('--tip-speed', type=float, default=0.0, metavar='V',
                      help='maximum speed of the tip with --straight [m/s] (default: 10)')
    add_json_argument(call)
    call.set_defaults(run=run_call)
    stop = commands.add_parser(
        'stop', help='stop the robot of a running node',
        description='Stop all motions that a running node has started, including those that other '
                    'clients requested.')
    add_node_arguments(stop)
    stop.set_defaults(run=run_stop)


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search, which are the same for library and node."""
    parser.add_argument('--deg', action='store_true',
                        help='angles are degrees: --rpy, joints, --max-joint-change')
    parser.add_argument('--group', help='joints that may move (default: the default group if it '
                        'moves the tips, else all joints that move them)')
    parser.add_argument('--select', choices=('first', 'nearest', 'manipulability'),
                        help='choice of the solution: first found (default), nearest to the seed, '
                             'or farthest from singularities; the last two use the whole timeout')
    parser.add_argument('--solutions', type=in_range(int, 1, 1e6), default=1, metavar='N',
                        help='number of different solutions to search for')
    parser.add_argument('--max-joint-change', type=positive, metavar='M',
                        help='largest difference of any joint from the seed [rad, m; with --deg '
                             'degrees, also for prismatic joints: 30 means 0.52 m]. Default: no '
                             "limit; for call with --execute: the node's max_jump")
    parser.add_argument('--allow-collisions', action='store_true',
                        help='accept solutions in contact with the scene or the robot itself')
    parser.add_argument('--timeout', type=positive, metavar='S',
                        help="seconds for the search (default: 1; for call: the node's)")
    parser.add_argument('--random-state', type=in_range(int, 0, 1e6), metavar='N',
                        help='seed of the random numbers (default: 0)')


def goal_fields(args: argparse.Namespace) -> dict[str, object]:
    """Convert the options to fields of a goal; angles are in radians."""
    fields = {name: value for name in FIELDS if (value := getattr(args, name, None)) is not None}
    if args.max_joint_change is not None:
        fields['max_joint_change'] = in_radians('--max-joint-change', args.max_joint_change,
                                                args.deg)
    if args.timeout is not None:
        fraction, seconds = math.modf(args.timeout)
        fields['timeout'] = {'sec': int(seconds), 'nanosec': int(fraction * 1e9)}
    return {**fields, 'avoid_collisions': not args.allow_collisions,
            **target_fields([vars(args)], args.deg)}


def run(args: argparse.Namespace) -> Exit:
    """Solve the target and print the answer; returns the exit code."""
    fields = goal_fields(args)
    from ros2_ik.cli.goal_file import goal_of
    from ros2_ik.cli.library import solve_here
    # follow_frames: the target is relative to its reference frame's pose in the solution
    return solve_here(args, goal_of({**fields, 'follow_frames': True}), args.seed, args.deg)


def run_constrained(args: argparse.Namespace) -> Exit:
    """Solve the problem file and print the answer; returns the exit code."""
    from ros2_ik.cli.goal_file import goal_of, read_content
    goal = goal_of(read_content(args.file))
    if args.robot and not args.node:
        from ros2_ik.cli.library import solve_here
        return solve_here(args, goal)
    reject_robot_arguments(args)
    from ros2_ik.cli.goal_client import ask_goal
    from ros2_ik.cli.node_client import NodeClient
    with NodeClient(args.node or '/ros2_ik') as client:
        answer = ask_goal(client, goal, args.wait, show=lambda line: print(line, file=sys.stderr))
        print_answer(answer, client.robot(0.0), args.json)
    return answer.exit


def run_call(args: argparse.Namespace) -> Exit:
    """Request a solution from the node and print the answer; returns the exit code."""
    from ros2_ik.cli.goal_client import ask_goal
    from ros2_ik.cli.goal_file import goal_of
    from ros2_ik.cli.node_client import NodeClient
    goal = goal_of(goal_fields(args))
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
    return Exit.SUCCESS if response.success else Exit.NO_SOLUTION
