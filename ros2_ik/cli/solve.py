"""`ros2_ik solve`: joint values for wanted poses."""

import argparse
from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

from ros2_ik.cli import poses
from ros2_ik.cli.answer import (
    add_json_argument,
    Answer,
    library_answer,
    print_answer,
    WantedPose,
)
from ros2_ik.cli.arguments import (
    add_meshes_argument,
    add_robot_arguments,
    add_scene_argument,
    DEG,
    FULL_TURN,
    HALF_TURN,
    in_radians,
    load_robot,
    load_scene_of,
    make_checker,
    positive,
    whole,
)
from ros2_ik.cli.joint_values import HELP, read_start, START
from ros2_ik.cli.question import BadQuestion, Exit, with_options

if TYPE_CHECKING:
    from ros2_ik.core import CollisionChecker, Robot

EXAMPLE = """examples:
  ros2_ik solve panda --xyz 0.4 0.1 0.5 --rpy 180 0 0 --deg
  ros2_ik solve my_arm.urdf --tip tool0 --xyz 0.4 0.1 0.5 --quat 1 0 0 0 --seed joint_2=-0.7
  ros2_ik solve panda --scene table --xyz 0.5 0.1 0.4 --rpy 180 0 0 --deg
  ros2_ik solve baxter --tip left_gripper --xyz .7 .3 .2 --tip right_gripper --xyz .7 -.3 .2"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'solve', help='joint values for wanted poses', epilog=EXAMPLE,
        description='Find joint values that bring frames of a robot to wanted poses.')
    add_robot_arguments(parser)
    poses.add_target_arguments(parser, '--relative-to', 'frame the pose is given in; if it moves, '
                               'the pose holds in the answer (default: the root)')
    parser.add_argument('--deg', action='store_true', help=DEG)
    parser.add_argument('--seed', nargs='+', metavar='S', default=[],
                        help=f'where the search starts: {HELP}; {START}')
    add_search_arguments(parser)
    add_scene_argument(parser, 'touch neither this scene (a shipped one, or a YAML file) nor the '
                               'robot itself (default: the robot alone)')
    add_meshes_argument(parser)
    parser.add_argument('--allow-collisions', action='store_true',
                        help='do not check for collisions, not even of the robot with itself')
    parser.add_argument('--timeout', type=positive, default=1.0, metavar='S',
                        help='seconds until it gives up (default: %(default)s)')
    parser.add_argument('--random-state', type=int, metavar='N',
                        help='seed of the restarts: same answer each time')
    parser.set_defaults(run=run)


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search, those of the library and of the node alike."""
    parser.add_argument('--group', help='joints that may move (default: all that move the tips)')
    parser.add_argument('--moving-joints', nargs='+', metavar='J',
                        help='joints that may move, in place of a group')
    parser.add_argument('--locked-joints', nargs='+', metavar='J',
                        help='joints that stay where the seed has them')
    parser.add_argument('--position-tolerance', type=positive, metavar='M',
                        help='default: 1e-5')
    parser.add_argument('--orientation-tolerance', type=positive, metavar='RAD',
                        help='default: 1e-4 rad; at most half a turn')
    parser.add_argument('--approximate', nargs=2, type=positive, metavar=('M', 'RAD'),
                        help='where there is no answer, give the best one that is at most so far '
                             'off, with status APPROXIMATE (and exit code 1)')
    parser.add_argument('--max-iterations', type=whole(), metavar='N',
                        help='of all attempts together (default: not bounded)')
    parser.add_argument('--no-restarts', action='store_true', help='one descent from the seed')
    parser.add_argument('--solver', help='default: chosen by the question')
    parser.add_argument('--select', choices=('first', 'nearest', 'manipulability'),
                        help='first found (default); or of those found in the time the nearest '
                             'to the seed, or the one farthest from singular')
    parser.add_argument('--solutions', type=whole(), default=1, metavar='N',
                        help='how many different ones to look for')
    parser.add_argument('--max-joint-change', type=positive, metavar='M',
                        help='no joint may be farther from the seed in the answer [rad, m], '
                             'at most a full turn; with --deg degrees, and slides may move as '
                             'many m as those are rad: 30 is 0.52 rad, 0.52 m '
                             '(default: not bounded; of call with --execute parameter max_jump)')
    add_json_argument(parser)


def use_radians(args: argparse.Namespace) -> None:
    """Convert angles of search options to radians; raises BadQuestion for too large ones."""
    for name, most, limit in (('orientation_tolerance', HALF_TURN, 'half a turn'),
                              ('max_joint_change', FULL_TURN, 'a full turn')):
        for value in _given(args, name).values():
            setattr(args, name, in_radians(f'--{name.replace("_", "-")}', value, args.deg, most,
                                           limit))
    if args.approximate:
        args.approximate[1] = in_radians('--approximate', args.approximate[1], args.deg,
                                         HALF_TURN, 'half a turn')


def run(args: argparse.Namespace) -> Exit:
    """Solve and print; returns the exit code."""
    use_radians(args)
    robot, shipped = load_robot(args)
    home = shipped.home if shipped else None
    targets = args.targets or [poses.TargetOptions()]
    for target in targets:
        target.tip = target.tip or tip_of(robot, args.group)
    wanted = poses.wanted(targets, args.deg)
    seed = read_start(args.seed, robot, home, args.deg)
    answer = _solve(args, robot, wanted, seed)
    answer.notes += poses.notes(targets)
    print_answer(answer, robot, args.json)
    return answer.exit


def tip_of(robot: 'Robot', group: str | None) -> str:
    """Return the tip that is meant where none is named; raises BadQuestion."""
    from ros2_ik.core import AmbiguousTipError, default_tip, Defaults
    try:
        return default_tip(robot, group or '', Defaults())
    except AmbiguousTipError as error:
        raise BadQuestion(f'which frame should go there? --tip: {error}') from None


def _solve(args: argparse.Namespace, robot: 'Robot', wanted: Sequence[WantedPose],
           seed: dict[str, Any]) -> Answer:
    from ros2_ik.core import IKRequest, PoseTarget, prepare, SolveOptions, StaticWorld
    tolerances = _given(args, 'position_tolerance', 'orientation_tolerance')
    if args.allow_collisions and args.scene:
        raise BadQuestion('--scene and --allow-collisions are both given: the one is what must '
                          'not be touched, the other allows all contacts')
    if args.allow_collisions and args.meshes:
        raise BadQuestion('--meshes and --allow-collisions are both given: nothing is checked '
                          'with the latter')
    if args.moving_joints and args.group:
        raise BadQuestion('--moving-joints and --group are both given; valid: one of them')
    scene = load_scene_of(args, robot, seed)
    checker: CollisionChecker | None = None
    if scene is not None:
        checker = make_checker(robot, scene, args.meshes)
    elif not args.allow_collisions:
        checker = _alone(robot, args.meshes or 'exact')
    search = prepare(IKRequest(
        [PoseTarget(*target, **tolerances) for target in wanted], seed=seed,
        avoid_collisions=not args.allow_collisions,
        **_given(args, 'group', 'moving_joints', 'locked_joints'),
        options=SolveOptions(allow_restarts=not args.no_restarts, **_given(
            args, 'timeout', 'solver', 'select', 'solutions', 'random_state', 'max_joint_change',
            'approximate', 'max_iterations'))),
        StaticWorld(robot, checker=checker))
    search.run()
    answer = library_answer(search, wanted)
    answer.message = with_options(answer.message, args)
    return answer


def _alone(robot: 'Robot', meshes: str) -> 'CollisionChecker | None':
    """Return the check of a robot without a scene; None for one without collision elements."""
    from ros2_ik.core import InvalidSceneError, own_collisions
    try:
        return own_collisions(robot, meshes).checker
    except InvalidSceneError as error:
        raise BadQuestion(f'COLLISION_CHECKING_UNAVAILABLE: {error}') from None


def _given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Options that were given; the others keep the library's defaults."""
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}
