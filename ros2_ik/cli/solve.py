"""`ros2_ik solve`: joint values for target poses, solved by the library."""

import argparse
import math

from ros2_ik.cli.answer import add_json_argument
from ros2_ik.cli.arguments import (
    add_robot_arguments,
    BadQuestion,
    Commands,
    Exit,
    in_radians,
    in_range,
    positive,
)
from ros2_ik.cli.values import add_target_arguments, HELP, START, target_fields, target_notes

EXAMPLE = """examples:
  ros2_ik solve panda --xyz 0.4 0.1 0.5 --rpy 180 0 0 --deg
  ros2_ik solve my_arm.urdf --tip tool0 --xyz 0.4 0.1 0.5 --quat 1 0 0 0 --seed joint_2=-0.7
  ros2_ik solve panda --scene table --xyz 0.5 0.1 0.4 --rpy 180 0 0 --deg"""
# options that have the name of the goal's field
FIELDS = ('group', 'select', 'solutions', 'random_state')


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
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


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search, which are the same for library and node."""
    parser.add_argument('--deg', action='store_true',
                        help='angles are degrees: --rpy, joints, --max-joint-change')
    parser.add_argument('--group', help='joints that may move (default: all that move the tips)')
    parser.add_argument('--select', choices=('first', 'nearest', 'manipulability'),
                        help='which solution: first found (default), nearest to the seed, or '
                             'farthest from singularities; the last two search until the timeout')
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
    parser.add_argument('--random-state', type=in_range(int, 1, 1e6), metavar='N',
                        help='seed of the random numbers; another seed may find other solutions')


def goal_fields(args: argparse.Namespace) -> dict[str, object]:
    """Convert the options to fields of a goal; angles are in radians."""
    fields = {name: getattr(args, name) for name in FIELDS if getattr(args, name) is not None}
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
    if args.allow_collisions and args.scene:
        raise BadQuestion('--scene and --allow-collisions are both given; valid: one of them, as '
                          '--allow-collisions ignores the scene')
    fields = goal_fields(args)
    from ros2_ik.cli.goal_file import goal_of
    from ros2_ik.cli.library import solve_here
    # follow_frames: the target is relative to the pose that the frame has in the solution
    return solve_here(args, goal_of({**fields, 'follow_frames': True}), args.seed, args.deg,
                      target_notes(args))
