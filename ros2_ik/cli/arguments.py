"""Arguments that several subcommands have: ROBOT, --scene, numbers; the parser guesses nothing."""

import argparse
from collections.abc import Callable
import difflib
import math
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TYPE_CHECKING

from ros2_ik.cli.question import BadQuestion, warn

if TYPE_CHECKING:
    from ros2_ik.core import CollisionChecker, Robot, Scene, ShippedRobot


# the words that other subcommands have for the same thing, or had before
SYNONYMS = {'--joints': '--seed', '--seed': '--joints', '--frame': '--tip or --relative-to',
            '--fk': 'ros2_ik fk --node'}


class Parser(argparse.ArgumentParser):
    """Takes whole options only, for --exec, completed, would move a robot; errors are one line."""

    parsers: ClassVar[dict[str, 'Parser']] = {}    # by subcommand

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self.parsers[self.prog] = self

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; refuse arguments that the subcommand does not have."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f'unrecognized arguments: {" ".join(unknown)}{self._hint(unknown[0])}')
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Exit with one line in place of the usage."""
        self.exit(2, f'{self.prog}: {message} (options: {self.prog} --help)\n')

    def _hint(self, word: str) -> str:
        word, options = word.partition('=')[0], self._option_string_actions
        others = [name for name, parser in self.parsers.items()
                  if word in parser._option_string_actions]
        if SYNONYMS.get(word, '-').split()[0] in {*options, 'ros2_ik'}:
            return f'; here it is {SYNONYMS[word]}'
        if others:
            return f'; {" and ".join(others[:2])} {"have" if len(others) > 1 else "has"} {word}'
        near = difflib.get_close_matches(word, options, 1)
        return f"; did you mean '{near[0]}'?" if near else ''


# -- numbers, refused in words when they make no sense -----------------------------------------

FULL_TURN, HALF_TURN = math.tau * 1.001, math.pi * 1.001    # [rad], with room for rounding
DEG = 'angles are degrees: those of --rpy, joints, --orientation-tolerance, --max-joint-change'


def in_radians(option: str, value: float, degrees: bool, most: float, limit: str) -> float:
    """Return an angle [rad]; raises BadQuestion above `most` [rad], which `limit` has in words."""
    angle = math.radians(value) if degrees else value
    if math.isfinite(angle) and abs(angle) > most:
        raise BadQuestion(f'{option}: {value:g} {"deg" if degrees else "rad"} is more than '
                          f'{limit}' + ('' if degrees else '; for degrees add --deg'))
    return angle


def positive(text: str) -> float:
    """Take a positive number of seconds, metres or radians, within reason."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"'{text.strip()}' is not a positive number up to 1e6")
    return value


def whole(least: int = 1, most: int = 1_000_000) -> Callable[[str], int]:
    """Return a reader of whole numbers between bounds."""
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"'{text.strip()}' is not a whole number from "
                                             f'{least} to {most}')
        return value
    return read


# -- a running node ----------------------------------------------------------------------------

def add_node_arguments(parser: argparse.ArgumentParser, wait: str = 'the service') -> None:
    """Add --node, and --wait for something of that node."""
    parser.add_argument('--node', default='/ros2_ik', help='full name (default: %(default)s)')
    parser.add_argument('--wait', type=positive, default=5.0, metavar='S',
                        help=f'seconds to wait for {wait} (default: %(default)g)')


# -- ROBOT: the name of a shipped robot, or a URDF file ----------------------------------------

def add_robot_arguments(parser: argparse.ArgumentParser, name: str = 'robot',
                        **options: Any) -> None:
    """Add ROBOT, by default as an argument, and what belongs to a URDF file."""
    parser.add_argument(name, metavar='ROBOT', **{
        'help': 'shipped robot (ros2_ik robots lists them), URDF or xacro file', **options})
    parser.add_argument('--srdf', metavar='FILE', help='SRDF of the URDF file')
    parser.add_argument('--package-dir', metavar='DIR', action='append', default=[],
                        help='folder in which package:// and relative meshes are looked for, '
                             'too; repeatable')
    parser.add_argument('--xacro-arg', metavar='NAME:=VALUE', action='append', default=[],
                        help='argument of a file .xacro; repeatable')
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
        return Robot.load(shipped, args.root_joint), shipped
    if not Path(args.robot).exists():
        error = UnknownRobotError(args.robot, tuple(shipped_robots()))
        raise BadQuestion(f"no file '{args.robot}', and {error}")
    for given in args.xacro_arg:
        if ':=' not in given:
            raise BadQuestion(f"--xacro-arg is '{given}'; valid: NAME:=VALUE")
    robot = Robot.from_urdf(Path(args.robot), args.package_dir, args.srdf and Path(args.srdf),
                            args.root_joint or 'fixed',
                            dict(given.split(':=', 1) for given in args.xacro_arg))
    for warning in robot.warnings:
        warn(f'{args.robot}: {warning}')
    return robot, None


# -- --scene: the name of a shipped scene, or a YAML file --------------------------------------

def add_scene_argument(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --scene."""
    parser.add_argument('--scene', metavar='NAME|PATH', help=text)


def load_scene_of(args: argparse.Namespace, robot: 'Robot', seed: Any) -> 'Scene | None':
    """Return the scene for a robot that stands at `seed`, None without --scene."""
    from ros2_ik.core import Configuration, load_scene
    if args.scene is None:
        return None
    return load_scene(args.scene, robot, Configuration(robot, seed))


def make_checker(robot: 'Robot', scene: 'Scene') -> 'CollisionChecker':
    """Return the checker of a scene; defects of the robot's geometry are printed on stderr."""
    from ros2_ik.core import collision_checker, InvalidSceneError
    try:
        checker = collision_checker(robot, scene)
    except InvalidSceneError as error:
        raise BadQuestion(f'COLLISION_CHECKING_UNAVAILABLE: {error}; avoid_collisions: false '
                          'does without') from None
    for warning in checker.geometry.warnings:
        warn(warning)
    return checker
