"""Parser, exit codes and error class of the command, and arguments that subcommands share."""

import argparse
from collections.abc import Callable, Mapping
import difflib
from enum import IntEnum
import math
from pathlib import Path
import re
import sys
from typing import Any, NoReturn, TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ros2_ik.core import Array, CollisionChecker, Robot, Scene, ShippedRobot


class Exit(IntEnum):
    """Exit codes of every subcommand."""

    SUCCESS = 0
    NO_SOLUTION = 1
    COMMAND_ERROR = 2
    INTERRUPTED = 130


class CommandError(Exception):
    """Error with exit code 2, such as invalid input or no node; its text is one line."""


# request field, as written in error texts -> corresponding option of the command
OPTIONS = {'avoid_collisions: false': '--allow-collisions', 'tips: ': '--tip: ',
           'max_joint_change': '--max-joint-change', 'tip_speed': '--tip-speed',
           'straight is false': '--straight is not given', 'straight: true': '--straight'}


def with_options(text: str, args: argparse.Namespace) -> str:
    """Replace request fields in a text by options; add how to list names if none is similar."""
    if 'xyz' in args:
        for field, option in OPTIONS.items():
            text = text.replace(field, option)
    robot = getattr(args, 'robot', None) or 'ROBOT'
    text = re.sub(r'(none is similar \(.*(frame|link|joint|group)s?)\)',
                  rf'\1, listed by `ros2_ik robots {robot}`)', text)
    return text.replace('package_dirs', '--package-dir')


def warn(text: str) -> None:
    """Print a note on stderr."""
    print(f'ros2_ik: {text.replace("package_dirs", "--package-dir")}', file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """ArgumentParser that rejects abbreviated options: --exec must not move a robot."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; exit on an unknown argument and suggest a similar option, if any."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._option_string_actions, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ''
            self.error(f'unrecognized arguments: {" ".join(unknown)}{hint}')
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Print the error in one line on stderr, without the usage text; exit with code 2."""
        self.exit(2, f'{self.prog}: {message} (options: {self.prog} --help)\n')


Commands: TypeAlias = 'argparse._SubParsersAction[Parser]'


# -- checked numbers ---------------------------------------------------------------------------

FULL_TURN = math.tau * 1.001    # larger angles are most likely degrees; 0.1 % for rounding [rad]


def in_radians(option: str, value: float, degrees: bool) -> float:
    """Return an angle in radians; raises CommandError for input in radians above a full turn."""
    if degrees:
        return math.radians(value)
    if FULL_TURN < abs(value) < math.inf:
        raise CommandError(f'{option}: {value:g} rad is more than a full turn; for degrees add '
                           '--deg')
    return value


def in_range(kind: type[int] | type[float], least: float, most: float) -> Callable[[str], float]:
    """Return an argparse type that converts a text to a number in [least, most]."""
    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        # `not ... <=` also rejects NaN, which fails every comparison
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"'{text.strip()}' is not a {'whole ' if kind is int else ''}number from "
                f'{least:g} to {most:g}')
        return value
    return read


positive = in_range(float, 1e-9, 1e6)    # for times, lengths and angles


# -- a running node ----------------------------------------------------------------------------

def add_node_arguments(parser: argparse.ArgumentParser, wait: str = 'the service') -> None:
    """Add --node and --wait; `wait` completes the help text 'seconds to wait for ...'."""
    parser.add_argument('--node', default='/ros2_ik',
                        help='full name of the node (default: /ros2_ik)')
    parser.add_argument('--wait', type=positive, default=5.0, metavar='S',
                        help=f'seconds to wait for {wait} (default: %(default)g)')


# -- ROBOT: the name of a shipped robot, or a URDF file ----------------------------------------

def add_robot_arguments(parser: argparse.ArgumentParser, name: str = 'robot', scene: bool = True,
                        **options: Any) -> None:
    """Add ROBOT as argument or option `name`, options of URDF files and, optionally, --scene."""
    parser.add_argument(name, metavar='ROBOT', **{
        'help': 'shipped robot (ros2_ik robots lists them), URDF or xacro file', **options})
    parser.add_argument('--srdf', metavar='FILE', help='SRDF of the URDF file')
    parser.add_argument('--package-dir', metavar='DIR', action='append', default=[],
                        help='additional folder to search for package:// and relative mesh '
                             'paths; repeatable')
    parser.add_argument('--xacro-arg', metavar='NAME:=VALUE', action='append', default=[],
                        help='argument of a xacro file; repeatable')
    if scene:
        parser.add_argument('--scene', metavar='NAME|PATH', help='objects around the robot: a '
                            'shipped scene, or a YAML file (default: none)')


def load_robot(args: argparse.Namespace) -> 'tuple[Robot, ShippedRobot | None]':
    """Return the robot and, for a shipped robot, the content of its config file."""
    from ros2_ik.core import Robot, shipped_robots
    from ros2_ik.core.errors import UnknownNameError
    from ros2_ik.messages.request_error import error_context
    shipped = shipped_robots().get(args.robot)
    if shipped:
        if args.srdf or args.package_dir or args.xacro_arg:
            raise CommandError('--srdf, --package-dir and --xacro-arg are for URDF files; '
                               f"'{args.robot}' is a shipped robot, which has its own")
        return Robot.load(shipped), shipped
    if not Path(args.robot).exists():
        error = UnknownNameError(args.robot, tuple(shipped_robots()), 'robot')
        raise CommandError(f"no file '{args.robot}', and {error}")
    if wrong := [given for given in args.xacro_arg if ':=' not in given]:
        raise CommandError(f"--xacro-arg is '{wrong[0]}'; valid: NAME:=VALUE")
    with error_context(f"'{args.robot}'"):
        robot = Robot.from_urdf(Path(args.robot), args.package_dir, args.srdf and Path(args.srdf),
                                xacro_args=dict(given.split(':=', 1) for given in args.xacro_arg))
    for warning in robot.warnings:
        warn(f'{args.robot}: {warning}')
    return robot, None


def reject_robot_arguments(args: argparse.Namespace) -> None:
    """Raise CommandError if ROBOT or its options are given together with a running node."""
    if args.robot or args.scene or args.srdf or args.package_dir or args.xacro_arg:
        raise CommandError('a node has its own robot and scene; valid: ROBOT without --node, or '
                           'none of ROBOT, --scene, --srdf, --package-dir and --xacro-arg')


def load_scene_of(args: argparse.Namespace, robot: 'Robot',
                  seed: 'Mapping[str, float | Array] | Array') -> 'Scene':
    """Return the scene, empty without --scene; `seed` determines the poses of objects on links."""
    from ros2_ik.core import Configuration, load_scene, Scene
    if args.scene is None:
        return Scene(robot)
    return load_scene(args.scene, robot, Configuration(robot, seed))


def make_checker(robot: 'Robot', scene: 'Scene') -> 'CollisionChecker':
    """Return the collision checker of a scene; print warnings about geometry on stderr."""
    from ros2_ik.core import collision_checker
    from ros2_ik.core.errors import InvalidSceneError
    try:
        checker = collision_checker(robot, scene)
    except InvalidSceneError as error:
        raise CommandError(f'COLLISION_CHECKING_UNAVAILABLE: {error}; avoid_collisions: false '
                           'solves without checks') from None
    for warning in checker.geometry.warnings:
        warn(warning)
    return checker
