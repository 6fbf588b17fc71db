"""`ros2_ik fk`: poses of frames at given joint values, or where the robot of a node stands."""

import argparse
import math
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.answer import add_json_argument, joint_table, number, table, to_json
from ros2_ik.cli.arguments import (
    add_robot_arguments,
    add_scene_argument,
    load_robot,
    load_scene_of,
)
from ros2_ik.cli.joint_values import HELP, read_start, START
from ros2_ik.cli.poses import components
from ros2_ik.cli.question import BadQuestion, Exit

if TYPE_CHECKING:
    from ros2_ik.core import Configuration

JOINTS = 5.0   # to wait for joint_states [s]

EXAMPLE = """examples:
  ros2_ik fk panda
  ros2_ik fk panda --joints panda_joint4=-90 --deg --tip panda_hand_tcp --relative-to panda_link4
  ros2_ik fk my_arm.urdf --joints joint_1=0.5 joint_2=-0.7 --tip tool0 --json
  ros2_ik fk --node /ros2_ik                  where the robot of a running node stands"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'fk', help='where frames are at given joint values', epilog=EXAMPLE,
        description='Forward kinematics: poses of frames at given joint values, or at those of '
                    'joint_states.')
    add_robot_arguments(parser, nargs='?')
    parser.add_argument('--node', help='full name of a running node, whose robot and joint_states '
                        'are taken')
    parser.add_argument('--joints', nargs='+', metavar='J', default=[],
                        help=f'{HELP}; {START}')
    parser.add_argument('--tip', nargs='+', action='extend', metavar='T',
                        help='frames asked for (default: the tips of the groups)')
    parser.add_argument('--relative-to', metavar='F',
                        help='frame the poses are given in (default: the root)')
    add_scene_argument(parser, 'scene whose objects and subframes may be named (a shipped one, or '
                               'a YAML file)')
    parser.add_argument('--deg', action='store_true', help='angles are degrees, in and out')
    add_json_argument(parser, 'angles in rad')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Compute and print; returns the exit code."""
    from ros2_ik.core import Configuration, group_tips, shipped_robots
    if (args.robot is None) == (args.node is None):
        raise BadQuestion('fk needs either a ROBOT or --node')
    if args.node is None:
        robot, shipped = load_robot(args)
        home = shipped.home if shipped else None
        at = Configuration(robot, read_start(args.joints, robot, home, args.deg))
    else:
        at = _measured(args)
        shipped = shipped_robots().get(at.robot.name)
    if scene := load_scene_of(args, at.robot, at.q):
        named = [*(args.tip or ()), *([args.relative_to] if args.relative_to else ())]
        at = Configuration(scene.framed_robot(named), at.q)
    tips = [shipped.tip] if shipped and shipped.tip else group_tips(at.robot)
    poses = {frame: components(at.transform(frame, args.relative_to))
             for frame in args.tip or tips}
    frame = args.relative_to or at.robot.root_frame
    if args.json:
        print(to_json({'relative_to': frame, 'joints': at.joints, 'poses': poses}))
    else:
        print(joint_table(at.joints, at.robot))
        print(f'\nposes in {frame}')
        print(pose_table(poses, args.deg))
    return Exit.ANSWERED


def _measured(args: argparse.Namespace) -> 'Configuration':
    """Return where joint_states have the robot of a node; raises BadQuestion."""
    import rclpy  # noqa: F401  (first, so that it is named where ROS is missing)

    from ros2_ik.cli.node_client import NodeClient
    from ros2_ik.core import Configuration
    if args.joints:
        raise BadQuestion('--joints and --node are both given: the joints of a node are those of '
                          'joint_states')
    with NodeClient(args.node) as client:
        robot = client.robot()
        if robot is None:
            raise BadQuestion('no robot_description was received')
        scalar = {joint.name for joint in robot.joints if joint.is_scalar}
        if not client.spin_until(lambda: scalar <= client.joints.keys(), JOINTS):
            raise BadQuestion('no joint_states were received for '
                              f'{", ".join(sorted(scalar - client.joints.keys()))}')
    return Configuration(robot, {name: client.joints[name] for name in scalar})


def pose_table(poses: dict[str, dict[str, list[float]]], degrees: bool) -> str:
    """Return poses as xyz, rpy and quaternion."""
    unit = '[deg]' if degrees else '[rad]'
    header = ['frame', 'x [m]', 'y', 'z', f'roll {unit}', 'pitch', 'yaw', 'qx', 'qy', 'qz', 'qw']
    rows = []
    for frame, pose in poses.items():
        rpy = [math.degrees(x) if degrees else x for x in pose['rpy']]
        values = [*pose['xyz'], *rpy, *pose['quat']]
        rows.append([frame, *(number(value, 6) for value in values)])
    return table(header, rows)
