"""Arguments that several subcommands have: ROBOT, --scene, numbers; the parser guesses nothing."""

import argparse
from collections.abc import Callable, Mapping
import difflib
import math
from pathlib import Path
from typing import Any, NoReturn, TYPE_CHECKING, TypeAlias

from ros2_ik.cli.question import BadQuestion, warn

if TYPE_CHECKING:
    from ros2_ik.core import Array, CollisionChecker, Robot, Scene, ShippedRobot


class Parser(argparse.ArgumentParser):
    """Takes whole options only, for --exec, completed, would move a robot; errors are one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; refuse arguments that the subcommand does not have."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._option_string_actions, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ''
            self.error(f'unrecognized arguments: {" ".join(unknown)}{hint}')
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Exit with one line in place of the usage."""
        self.exit(2, f'{self.prog}: {message} (options: {self.prog} --help)\n')


Commands: TypeAlias = 'argparse._SubParsersAction[Parser]'


# -- numbers, refused in words when they make no sense -----------------------------------------

FULL_TURN = math.tau * 1.001    # [rad], with room for rounding


def in_radians(option: str, value: float, degrees: bool) -> float:
    """Return an angle in radians; raises BadQuestion for one that must be meant in degrees."""
    if degrees:
        return math.radians(value)
    if FULL_TURN < abs(value) < math.inf:
        raise BadQuestion(f'{option}: {value:g} rad is more than a full turn; for degrees add '
                          '--deg')
    return value


def in_range(kind: type[int] | type[float], least: float, most: float) -> Callable[[str], float]:
    """Return a reader of numbers between bounds."""
    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"'{text.strip()}' is not a {'whole ' if kind is int else ''}number from "
                f'{least:g} to {most:g}')
        return value
    return read


positive = in_range(float, 1e-9, 1e6)    # seconds, metres, radians within reason


# -- a running node ----------------------------------------------------------------------------

def add_node_arguments(parser: argparse.ArgumentParser, wait: str = 'the service') -> None:
    """Add --node, and --wait for something of that node."""
    parser.add_argument('--node', default='/ros2_ik', help='full name (default: %(default)s)')
    parser.add_argument('--wait', type=positive, default=5.0, metavar='S',
                        help=f'seconds to wait for {wait} (default: %(default)g)')


# -- ROBOT: the name of a shipped robot, or a URDF file ----------------------------------------

def add_robot_arguments(parser: argparse.ArgumentParser, name: str = 'robot', scene: bool = True,
                        **options: Any) -> None:
    """Add ROBOT, by default as an argument, what belongs to a URDF file, and --scene."""
    parser.add_argument(name, metavar='ROBOT', **{
        'help': 'shipped robot (ros2_ik robots lists them), URDF or xacro file', **options})
    parser.add_argument('--srdf', metavar='FILE', help='SRDF of the URDF file')
    parser.add_argument('--package-dir', metavar='DIR', action='append', default=[],
                        help='folder in which package:// and relative meshes are looked for, '
                             'too; repeatable')
    parser.add_argument('--xacro-arg', metavar='NAME:=VALUE', action='append', default=[],
                        help='argument of a file .xacro; repeatable')
    if scene:
        parser.add_argument('--scene', metavar='NAME|PATH', help='what is around the robot: a '
                            'shipped scene, or a YAML file (default: nothing)')


def load_robot(args: argparse.Namespace) -> 'tuple[Robot, ShippedRobot | None]':
    """Return the robot and, for a shipped one, the content of its config file."""
    from ros2_ik.core import Robot, shipped_robots
    from ros2_ik.core.errors import UnknownRobotError
    shipped = shipped_robots().get(args.robot)
    if shipped:
        if args.srdf or args.package_dir:
            raise BadQuestion(f"--srdf and --package-dir belong to a URDF file; '{args.robot}' "
                              'is a shipped robot and brings its own')
        return Robot.load(shipped), shipped
    if not Path(args.robot).exists():
        error = UnknownRobotError(args.robot, tuple(shipped_robots()))
        raise BadQuestion(f"no file '{args.robot}', and {error}")
    if wrong := [given for given in args.xacro_arg if ':=' not in given]:
        raise BadQuestion(f"--xacro-arg is '{wrong[0]}'; valid: NAME:=VALUE")
    robot = Robot.from_urdf(Path(args.robot), args.package_dir, args.srdf and Path(args.srdf),
                            xacro_args=dict(given.split(':=', 1) for given in args.xacro_arg))
    for warning in robot.warnings:
        warn(f'{args.robot}: {warning}')
    return robot, None


def refuse_robot_arguments(args: argparse.Namespace) -> None:
    """Raise BadQuestion for what only a ROBOT has, where a node is asked."""
    if args.robot or args.scene or args.srdf or args.package_dir:
        raise BadQuestion('a node has its own robot and scene: leave out --node, or ROBOT, '
                          '--scene, --srdf and --package-dir')


def load_scene_of(args: argparse.Namespace, robot: 'Robot',
                  seed: 'Mapping[str, float | Array] | Array') -> 'Scene | None':
    """Return the scene for a robot that stands at `seed`, None without --scene."""
    from ros2_ik.core import Configuration, load_scene
    if args.scene is None:
        return None
    return load_scene(args.scene, robot, Configuration(robot, seed))


def make_checker(robot: 'Robot', scene: 'Scene') -> 'CollisionChecker':
    """Return the checker of a scene; defects of the robot's geometry are printed on stderr."""
    from ros2_ik.core import collision_checker
    from ros2_ik.core.errors import InvalidSceneError
    try:
        checker = collision_checker(robot, scene)
    except InvalidSceneError as error:
        raise BadQuestion(f'COLLISION_CHECKING_UNAVAILABLE: {error}; avoid_collisions: false '
                          'does without') from None
    for warning in checker.geometry.warnings:
        warn(warning)
    return checker
