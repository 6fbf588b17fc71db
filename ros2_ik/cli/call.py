"""`ros2_ik call`: ask a running node."""

import argparse
from typing import Any, TYPE_CHECKING

from ros2_ik.cli import poses
from ros2_ik.cli.answer import print_answer, to_json
from ros2_ik.cli.arguments import add_node_arguments, DEG, positive
from ros2_ik.cli.fk import pose_table
from ros2_ik.cli.joint_values import HELP, read_joint_values, shipped_home
from ros2_ik.cli.question import BadQuestion, Exit, with_options
from ros2_ik.cli.solve import add_search_arguments, use_radians

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient

PATIENCE = 10.0   # seconds to wait for poses
# what says something to a search or a motion alone
IK_ONLY = ('execute', 'allow_collisions', 'follow_frames', 'group', 'position_tolerance',
           'orientation_tolerance', 'no_restarts', 'solver', 'select', 'timeout',
           'max_joint_change', 'moving_joints', 'locked_joints', 'approximate',
           'max_iterations')

EXAMPLE = """examples:
  ros2_ik call --xyz 0.4 0.1 0.5 --rpy 180 0 0 --deg
  ros2_ik call --node /left/ros2_ik --tip tool0 --xyz 0 0 0.1 --quat 0 0 0 1 --frame tool0
  ros2_ik call --fk --tip tool0 --seed elbow_joint=1.2"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'call', help='ask a running node', epilog=EXAMPLE,
        description='Ask a running node for joint values or, with --fk, for poses.')
    add_node_arguments(parser, 'the service, and then for the robot and its collision geometry')
    parser.add_argument('--fk', action='store_true', help='ask for the poses of the tips')
    poses.add_target_arguments(parser, '--frame', 'frame the pose is given in (default: the root)')
    parser.add_argument('--follow-frames', action='store_true',
                        help='the pose holds relative to --frame in the answer, if the '
                             'solution moves that; else --frame is taken where it stands')
    parser.add_argument('--deg', action='store_true', help=DEG)
    parser.add_argument('--seed', '--joints', nargs='+', metavar='S', default=[],
                        help=f'{HELP}; joints that are not named are where joint_states have them')
    add_search_arguments(parser)
    parser.add_argument('--allow-collisions', action='store_true',
                        help='an answer may touch the scene, or the robot itself')
    parser.add_argument('--execute', action='store_true',
                        help='the robot goes there, if the way is free (with --allow-collisions '
                             'the way is not checked either); Ctrl-C stops it')
    parser.add_argument('--timeout', type=positive, metavar='S',
                        help="seconds for the search (default: the node's)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Ask and print; returns the exit code."""
    import rclpy  # noqa: F401  (first, so that it is named where ROS is missing)

    from ros2_ik.cli.node_client import NodeClient
    if args.fk:
        _refuse_what_fk_ignores(args)
    use_radians(args)
    with NodeClient(args.node) as client:
        return _forward(args, client) if args.fk else _inverse(args, client)


def _inverse(args: argparse.Namespace, client: 'NodeClient') -> Exit:
    from ros2_ik.cli.node_answer import ask_ik, ik_request
    from ros2_ik.srv import ComputeIK
    wanted = poses.wanted(args.targets or [poses.TargetOptions()], args.deg)
    service = client.connect(ComputeIK, 'compute_ik', args.wait)
    seed = _seed(args, client)
    request = ik_request(
        wanted, seed, group=args.group, solver=args.solver, select=args.select,
        position_tolerance=args.position_tolerance, solutions=args.solutions,
        orientation_tolerance=args.orientation_tolerance, timeout=args.timeout,
        allow_restarts=not args.no_restarts, follow_frames=args.follow_frames,
        avoid_collisions=not args.allow_collisions, execute=args.execute,
        max_joint_change=args.max_joint_change, moving_joints=args.moving_joints,
        locked_joints=args.locked_joints, approximate=args.approximate,
        max_iterations=args.max_iterations)
    answer = ask_ik(client, service, request, wanted, seed, args.wait)
    answer.message = with_options(answer.message, args)
    answer.notes += poses.notes(args.targets)
    print_answer(answer, None if args.json else client.robot(0.0), args.json)
    return answer.exit


def _refuse_what_fk_ignores(args: argparse.Namespace) -> None:
    if any(t.xyz or t.rpy or t.quat or t.weights for t in args.targets):
        raise BadQuestion('--fk gives poses and takes none: --tip, --frame and --seed only')
    if len({t.frame for t in args.targets if t.frame}) > 1:
        raise BadQuestion('--fk takes one --frame for all tips')
    given = [f'--{name.replace("_", "-")}' for name in IK_ONLY if getattr(args, name)]
    given += ['--solutions'] * (args.solutions != 1)
    if given:
        raise BadQuestion(f'--fk looks for nothing and moves nothing: leave out '
                          f'{", ".join(given)}')


def _forward(args: argparse.Namespace, client: 'NodeClient') -> Exit:
    from ros2_ik.cli.node_answer import accepted, pose_components
    from ros2_ik.messages.robot_states import fill_state
    from ros2_ik.srv import ComputeFK
    frames = {t.frame for t in args.targets if t.frame}
    service = client.connect(ComputeFK, 'compute_fk', args.wait)
    request = ComputeFK.Request(links=[t.tip for t in args.targets if t.tip],
                                frame_id=frames.pop() if frames else '')
    seed = _seed(args, client)
    fill_state(request.state, seed, seed)
    response = client.ask(service, request, PATIENCE, again=PATIENCE / 2)
    accepted(response)
    found = {link: pose_components(pose) for link, pose
             in zip(response.links, response.poses, strict=True)}
    frame = response.poses[0].header.frame_id if response.poses else ''
    print(to_json({'frame': frame, 'poses': found}) if args.json
          else f'poses in {frame}\n{pose_table(found, args.deg)}')
    return Exit.ANSWERED


def _seed(args: argparse.Namespace, client: 'NodeClient') -> dict[str, Any]:
    """Read --seed, which needs the robot: its joints, and states by name."""
    if not args.seed:
        return {}
    robot = client.robot()
    if robot is None:
        raise BadQuestion('--seed needs the robot, but no robot_description was received')
    states = {word for word in args.seed if '=' not in word}
    unknown = states.difference(*robot.group_states.values())   # the SRDF's states come first
    home = shipped_home(robot) if unknown else None
    return read_joint_values(args.seed, robot, home, args.deg)
