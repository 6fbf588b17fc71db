"""`ros2_ik view` and `ros2_ik goals`: a robot and its targets in a browser, or in RViz."""

import argparse
from collections.abc import Callable, Mapping, Sequence
import logging
import shlex
import time
from typing import TYPE_CHECKING

from ros2_ik.cli.arguments import (
    add_node_arguments,
    add_robot_arguments,
    CommandError,
    Commands,
    Exit,
    in_range,
    load_robot,
    load_scene_of,
    reject_robot_arguments,
    warn,
)
from ros2_ik.cli.values import read_start

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient
    from ros2_ik.core import Array, CollisionChecker, Scene
    from ros2_ik.core.internals import IKRequest
    from ros2_ik.view.arm import Arm
    from ros2_ik.view.page import Page
    from ros2_ik.view.session import Session

EXAMPLE = """examples:
  ros2_ik view panda --scene table
  ros2_ik view talos --tip gripper_left_base_link gripper_right_base_link
  ros2_ik view panda --problem examples/ros/upright_tray.yaml
  ros2_ik view --node /ros2_ik          the robot of a running node"""
GOALS_EXAMPLE = """examples:
  ros2_ik goals --tip left_gripper right_gripper
  rviz2 -d $(ros2 pkg prefix ros2_ik)/share/ros2_ik/config/ros2_ik.rviz"""
PORT = 8080
WARNING_PERIOD = 5.0    # time between warnings that joint_states are incomplete [s]


def add_parser(commands: Commands) -> None:
    """Add the subcommands."""
    parser = commands.add_parser(
        'view', help='drag goals in a browser and see the answers', epilog=EXAMPLE,
        description='Serve a web page that shows a robot. Drag the gizmo at its tip: a ghost '
                    'shows the answer. Needs viser.')
    add_robot_arguments(parser, nargs='?')
    parser.add_argument('--node', metavar='NAME', help='running node whose robot is shown')
    parser.add_argument('--port', type=in_range(int, 1, 65535), default=PORT,
                        help='port of the page (default: %(default)s)')
    # launch reports any other exit code than 0 as an error
    parser.set_defaults(run=run, interrupted=Exit.SUCCESS)
    goals = commands.add_parser(
        'goals', help='drag goals in RViz and see the answers', epilog=GOALS_EXAMPLE,
        description='Serve interactive markers on NODE/goals. Drag the marker at the tip in RViz: '
                    'a ghost shows the answer of the node. Only the menu moves the robot.')
    add_node_arguments(goals, 'the node and its robot')
    goals.set_defaults(run=run_goals)
    for each, more in (parser, '; for Baxter without a node, the tips of both arms'), (goals, ''):
        each.add_argument('--tip', nargs='+', action='extend', metavar='TIP', default=[],
                          help=f'frames to drag (default: the default tip of solve{more})')
        each.add_argument('--problem', metavar='FILE', help='problem file of `constrained`')


def run(args: argparse.Namespace) -> Exit:
    """Serve the page until Ctrl-C; returns the exit code."""
    if args.node is None:
        serve(make_session(args), args.port)
        return Exit.SUCCESS
    from ros2_ik.cli.node_client import NodeClient
    reject_robot_arguments(args)
    with NodeClient(args.node) as client:
        serve(node_session(client, args.tip, args.problem), args.port)
    return Exit.SUCCESS


def run_goals(args: argparse.Namespace) -> Exit:
    """Serve markers until Ctrl-C; raises CommandError when the robot_description changes."""
    from ros2_ik.cli.node_client import interrupts, NodeClient
    # a KeyboardInterrupt could get lost while `_serve_goals` imports modules
    with interrupts() as received, NodeClient(args.node, lambda: bool(received)) as client:
        try:
            _serve_goals(client, args, received)
        except CommandError:
            if not received:    # an interrupted wait fails
                raise
    return Exit.SUCCESS


def _serve_goals(client: 'NodeClient', args: argparse.Namespace, received: list[int]) -> None:
    from ros2_ik.view.rviz_goals import RvizGoals
    session = node_session(client, args.tip, args.problem, args.wait)
    moving = set[str]().union(*(session.robot.moving_joints(tip) for tip in session.tips))
    if session.robot.base_joint in moving:
        raise CommandError('a robot with a free base has no markers: joint_states lack its pose')
    while not client.spin_until(lambda: bool(received) or client.has_another_robot
                                or moving <= client.joints.keys(), WARNING_PERIOD):
        warn('no markers: joint_states lack ' + ', '.join(sorted({*moving} - {*client.joints})))
    print(f'markers: {client.name}/goals  (Ctrl-C ends it)', flush=True)
    RvizGoals(session, client.node, client.name,
              lambda: bool(received) or client.has_another_robot).run()
    raise CommandError('another robot_description was received: start the command again')


def serve(session: 'Session', port: int, ended: Callable[[], bool] = lambda: False,
          add: Callable[['Page'], object] = lambda page: None) -> None:
    """Serve a page until Ctrl-C or `ended()`; `add(page)` adds content. Raises OSError."""
    from ros2_ik.core import compile_all
    from ros2_ik.view.page import Page
    # websockets logs an error for each browser that disconnects
    logging.getLogger('websockets').setLevel(logging.CRITICAL)
    # compile before the page is served: compilation would block the first drag for minutes
    compile_all()
    page = Page(session, port)
    add(page)
    for note in page.notes:
        warn(note)
    print(f'{session.robot.name}: {page.url}  (Ctrl-C ends it)', flush=True)
    try:
        while not ended():
            time.sleep(0.1)
    finally:
        page.stop()


def make_session(args: argparse.Namespace) -> 'Session':
    """Return a session with a simulated robot; raises CommandError and IKError."""
    from ros2_ik.view.arm import Arm
    if args.robot is None:
        raise CommandError('no robot is given; valid: ROBOT, or a running node: --node /ros2_ik')
    robot, shipped = load_robot(args)
    start = read_start([], robot, shipped, degrees=False)
    scene = load_scene_of(args, robot, start)
    arm = Arm(robot, robot.to_q(start), scene, read_problem_file)
    tips = args.tip or ([] if shipped is None else [tip for _, tip in shipped.chains.values()])
    return _session(arm, tips, args.problem, solving_command(args))


def solving_command(args: argparse.Namespace) -> str:
    """Return the command that solves problem.yaml for the robot and the scene in `args`."""
    given = {'--robot': [args.robot], '--srdf': [args.srdf], '--package-dir': args.package_dir,
             '--xacro-arg': args.xacro_arg, '--scene': [args.scene]}
    return shlex.join(['ros2_ik', 'constrained', 'problem.yaml', *(
        word for option, values in given.items() for value in values if value
        for word in (option, value))])


def node_session(client: 'NodeClient', tips: Sequence[str], problem: str | None = None,
                 wait: float = 10.0) -> 'Session':
    """Return a session with a node's robot; raises IKError, or CommandError after `wait` s."""
    from ros2_ik.cli.node_arm import NodeArm
    return _session(NodeArm(client, client.needed_robot(wait), wait), tips, problem,
                    f'ros2_ik constrained problem.yaml --node {client.name}')


def _session(arm: 'Arm', tips: Sequence[str], problem: str | None, command: str) -> 'Session':
    from ros2_ik.cli.goal_file import read_content
    from ros2_ik.core import IKError
    from ros2_ik.core.internals import default_tip, Defaults
    from ros2_ik.view.session import Session
    session = Session(arm, tips or [default_tip(arm.robot, '', Defaults())], read_problem_file,
                      command)
    if problem is not None:
        try:
            session.load_problem(read_content(problem))
        except IKError as error:
            raise CommandError(f"'{problem}': {error}") from None
        session.attempt(session.solve)
    return session


def read_problem_file(problem: Mapping[str, object], scene: 'Scene',
                      q: 'Array') -> 'tuple[IKRequest, CollisionChecker | None]':
    """Return a problem file's request, and its checker if needed; raises IKError."""
    from ros2_ik.cli.goal_file import goal_of
    from ros2_ik.cli.library import read_problem
    from ros2_ik.core import IKError
    from ros2_ik.view.arm import checker_of
    try:
        goal = goal_of(problem)
    except CommandError as error:
        raise IKError(str(error)) from None
    if goal.execute:
        raise IKError('execute: the viewer moves a robot only if you click Move there')
    return read_problem(goal, scene, checker_of)
