"""`ros2_ik robots`: the shipped robots, and the joints, groups and frames of one robot."""

import argparse
import textwrap
from typing import Any

from ros2_ik.cli.answer import bound, table
from ros2_ik.cli.arguments import add_robot_arguments, load_robot
from ros2_ik.cli.question import Exit

EXAMPLE = """examples:
  ros2_ik robots
  ros2_ik robots panda
  ros2_ik robots my_arm.urdf --srdf my_arm.srdf"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'robots', help='shipped robots; joints, groups and frames of a robot', epilog=EXAMPLE,
        description='List the shipped robots, or the joints, groups and frames of one robot.')
    add_robot_arguments(parser, nargs='?')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Print; returns the exit code."""
    if args.robot is None:
        from ros2_ik.core import shipped_robots
        print(table(('name', 'tip', 'group', 'description'), [
            (r.name, r.tip or '', r.group or '', r.description)
            for r in shipped_robots().values()]))
        return Exit.ANSWERED
    robot, shipped = load_robot(args)
    title = f'{robot.name}: {shipped.description if shipped else ""}'.rstrip(': ')
    print(f'{title}; root frame {robot.root_frame}\n')
    print(table(('joint', 'kind', 'lower', 'upper', 'velocity limit'), [
        (j.name, j.kind, bound(j.lower), bound(j.upper), bound(j.velocity_limit))
        for j in robot.joints]))
    for name, mimic in robot.mimics.items():
        print(f'{name} = {mimic.multiplier:g} * {mimic.leader} + {mimic.offset:g}')
    print('\n' + table(('group', 'joints', 'base', 'tips', 'states'), [
        (group.name, str(len(group.joint_names)), group.base, ' '.join(group.tips),
         ' '.join(sorted(robot.group_states.get(group.name, {}))))
        for group in robot.groups.values()]))
    frames = f'{len(robot.frame_names)} frames: {" ".join(robot.frame_names)}'
    print('\n' + textwrap.fill(frames, 99, break_on_hyphens=False, break_long_words=False))
    return Exit.ANSWERED
