"""`ros2_ik robots`: list shipped robots, or show one robot with its forward kinematics."""

import argparse
from collections.abc import Sequence
import math
import textwrap
from typing import TYPE_CHECKING

from ros2_ik.cli.answer import bound, number, table
from ros2_ik.cli.arguments import add_robot_arguments, Commands, Exit, load_robot
from ros2_ik.cli.values import components, HELP, read_start, START

if TYPE_CHECKING:
    from ros2_ik.core import Configuration

EXAMPLE = """examples:
  ros2_ik robots
  ros2_ik robots panda --joints panda_joint4=-90 --deg
  ros2_ik robots my_arm.urdf --srdf my_arm.srdf"""


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'robots', help='list shipped robots, or joints, groups, frames and poses of a robot',
        epilog=EXAMPLE, description='List the shipped robots, or the joints, groups and frames '
        'of one robot, and the poses of its tips at given joint values.')
    add_robot_arguments(parser, scene=False, nargs='?')
    parser.add_argument('--joints', nargs='+', metavar='J', default=[], help=f'{HELP}; {START}')
    parser.add_argument('--deg', action='store_true',
                        help='all angles are degrees, in arguments and output')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Print the list of robots, or one robot; returns the exit code."""
    from ros2_ik.core import Configuration, shipped_robots
    from ros2_ik.core.internals import group_tips
    if args.robot is None:
        print(table(('name', 'tip', 'group', 'description'), [
            (r.name, r.tip or '', r.group or '', r.description)
            for r in shipped_robots().values()]))
        return Exit.SUCCESS
    robot, shipped = load_robot(args)
    at = Configuration(robot, read_start(args.joints, robot, shipped, args.deg, '--joints'))
    title = f'{robot.name}: {shipped.description if shipped else ""}'.rstrip(': ')
    print(f'{title}; root frame {robot.root_frame}\n')
    print(table(('joint', 'kind', 'lower', 'upper', 'velocity limit'), [
        (j.name, j.kind, bound(j.lower), bound(j.upper), bound(j.velocity_limit))
        for j in robot.joints]))
    for name, mimic in robot.mimics.items():
        print(f'{name} = {mimic.multiplier:g} * {mimic.leader} + {mimic.offset:g}')
    print('\n' + table(('group', 'joints', 'tips', 'states'), [
        (group.name, str(len(group.joint_names)), ' '.join(group.tips),
         ' '.join(sorted(robot.group_states.get(group.name, {}))))
        for group in robot.groups.values()]))
    frames = f'{len(robot.frame_names)} frames: {" ".join(robot.frame_names)}'
    print('\n' + textwrap.fill(frames, 99, break_on_hyphens=False, break_long_words=False))
    tips = [shipped.tip] if shipped and shipped.tip else group_tips(robot)
    print('\n' + _poses(at, tips, args.deg))
    return Exit.SUCCESS


def _poses(at: 'Configuration', tips: Sequence[str], degrees: bool) -> str:
    """Return a table of the poses of tips in the root frame."""
    rows = []
    for tip in tips:
        pose = components(at.transform(tip))
        rpy = map(math.degrees, pose['rpy']) if degrees else pose['rpy']
        rows.append((tip, *(number(value) for value in (*pose['xyz'], *rpy, *pose['quat']))))
    unit = '[deg]' if degrees else '[rad]'
    return table(('tip', 'x [m]', 'y', 'z', f'roll {unit}', 'pitch', 'yaw', 'qx', 'qy', 'qz',
                  'qw'), rows)
