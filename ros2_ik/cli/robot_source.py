"""ROBOT on the command line: the name of a shipped robot, or a URDF file."""

import argparse
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.question import BadQuestion

if TYPE_CHECKING:
    from ros2_ik.core import Robot, ShippedRobot


def add_robot_arguments(parser: argparse.ArgumentParser, name: str = 'robot',
                        **options: Any) -> None:
    """Add ROBOT, by default as an argument, and what belongs to a URDF file."""
    parser.add_argument(name, metavar='ROBOT', **{
        'help': 'shipped robot (ros2_ik robots lists them) or URDF file', **options})
    parser.add_argument('--srdf', metavar='FILE', help='SRDF of the URDF file')
    parser.add_argument('--package-dir', metavar='DIR', action='append', default=[],
                        help='folder in which package:// and relative meshes are looked for, '
                             'too; repeatable')
    parser.add_argument('--root-joint', choices=('fixed', 'planar', 'freeflyer'),
                        help='how the root link stands in the world (default: fixed)')


def load_robot(args: argparse.Namespace) -> 'tuple[Robot, ShippedRobot | None]':
    """Return the robot and, for a shipped one, what its config says."""
    from ros2_ik.core import Robot, shipped_robots, UnknownRobotError
    shipped = shipped_robots().get(args.robot)
    if shipped:
        if args.srdf or args.package_dir:
            raise BadQuestion(f"--srdf and --package-dir belong to a URDF file; '{args.robot}' "
                              'is a shipped robot and brings its own')
        return shipped.load(args.root_joint), shipped
    if not Path(args.robot).exists():
        error = UnknownRobotError(args.robot, tuple(shipped_robots()))
        raise BadQuestion(f'{error}, and there is no file of that name')
    robot = Robot.from_urdf(Path(args.robot), args.package_dir, args.srdf and Path(args.srdf),
                            args.root_joint or 'fixed')
    for warning in robot.warnings:
        print(f'ros2_ik: {args.robot}: {warning}', file=sys.stderr)
    return robot, None
