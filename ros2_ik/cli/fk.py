"""`ros2_ik fk`: where frames are at given joint values."""

import argparse
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.answer import add_json_argument, joint_table, number, table, to_json
from ros2_ik.cli.arguments import add_robot_arguments, load_robot
from ros2_ik.cli.joint_values import HELP, read_start, START
from ros2_ik.cli.poses import components
from ros2_ik.cli.question import Exit

if TYPE_CHECKING:
    from ros2_ik.core import Robot, ShippedRobot

EXAMPLE = """examples:
  ros2_ik fk panda
  ros2_ik fk panda --joints panda_joint4=-90 --deg --frame panda_hand_tcp --relative-to panda_link4
  ros2_ik fk my_arm.urdf --joints joint_1=0.5 joint_2=-0.7 --frame tool0 --json"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'fk', help='where frames are at given joint values', epilog=EXAMPLE,
        description='Forward kinematics: poses of frames at given joint values.')
    add_robot_arguments(parser)
    parser.add_argument('--joints', nargs='+', metavar='J', default=[],
                        help=f'{HELP}; {START}')
    parser.add_argument('--frame', nargs='+', action='extend', metavar='F',
                        help='frames asked for (default: the tips)')
    parser.add_argument('--relative-to', metavar='F',
                        help='frame the poses are given in (default: the root)')
    parser.add_argument('--deg', action='store_true', help='angles are degrees, in and out')
    add_json_argument(parser, 'angles in rad')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Compute and print; returns the exit code."""
    from ros2_ik.core import Configuration
    robot, shipped = load_robot(args)
    home = shipped.home if shipped else None
    at = Configuration(robot, read_start(args.joints, robot, home, args.deg))
    poses = {frame: components(at.transform(frame, args.relative_to))
             for frame in args.frame or default_frames(robot, shipped)}
    frame = args.relative_to or robot.root_frame
    if args.json:
        print(to_json({'relative_to': frame, 'joints': at.joints, 'poses': poses}))
    else:
        print(joint_table(at.joints, robot))
        print(f'\nposes in {frame}')
        print(pose_table(poses, args.deg))
    return Exit.ANSWERED


def default_frames(robot: 'Robot', shipped: 'ShippedRobot | None') -> list[str]:
    """Return the tips of the robot."""
    if shipped and shipped.tip:
        return [shipped.tip]
    return list(dict.fromkeys(tip for group in robot.groups.values() for tip in group.tips))


def pose_table(poses: dict[str, dict[str, list[float]]], degrees: bool) -> str:
    """Poses as xyz, rpy and quaternion."""
    import math
    unit = '[deg]' if degrees else '[rad]'
    header = ['frame', 'x [m]', 'y', 'z', f'roll {unit}', 'pitch', 'yaw', 'qx', 'qy', 'qz', 'qw']
    rows = []
    for frame, pose in poses.items():
        rpy = [math.degrees(x) if degrees else x for x in pose['rpy']]
        values = [*pose['xyz'], *rpy, *pose['quat']]
        rows.append([frame, *(number(value, 6) for value in values)])
    return table(header, rows)
