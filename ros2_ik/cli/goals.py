"""`ros2_ik goals`: goals to drag in RViz, for the robot of a running node."""

import argparse
import gc
import math
from typing import TYPE_CHECKING

from ros2_ik.cli.arguments import add_node_arguments, Commands
from ros2_ik.cli.question import BadQuestion, Exit, warn
from ros2_ik.cli.view import node_session

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient

EXAMPLE = """examples:
  ros2_ik goals --tip left_gripper right_gripper
  rviz2 -d $(ros2 pkg prefix ros2_ik)/share/ros2_ik/config/ros2_ik.rviz"""
NOTICE = 5.0    # until a warning that joint_states are incomplete [s]


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'goals', help='drag goals in RViz and see the answers', epilog=EXAMPLE,
        description='Serve interactive markers on NODE/goals: drag the one at the tip in RViz, '
                    'and a ghost shows the answer of the node. Only the menu moves the robot.')
    add_node_arguments(parser, 'the node and its robot')
    parser.add_argument('--tip', nargs='+', action='extend', metavar='TIP', default=[],
                        help='frames to drag (default: the tip that solve takes)')
    parser.add_argument('--problem', metavar='FILE',
                        help='constraints and costs, as constrained takes them')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Serve the markers until Ctrl-C; a later robot that has none is waited out."""
    import rclpy  # noqa: F401  (first, so that it is named where ROS is missing)

    from ros2_ik.cli.node_client import NodeClient
    from ros2_ik.core.errors import IKError
    is_first = True
    while True:    # once for each robot_description
        with NodeClient(args.node) as client:
            try:
                serve(client, args.tip, args.problem, args.wait)
            except (BadQuestion, IKError) as error:
                if is_first:
                    raise
                warn(f'no markers for this robot: {error}')
                client.spin_until(lambda: client.has_another_robot, math.inf)
        is_first = False


def serve(client: 'NodeClient', tips: list[str], problem: str | None, wait: float) -> None:
    """Serve the markers of the node's robot until another one comes; raises BadQuestion."""
    from ros2_ik.view.rviz_goals import RvizGoals
    session = node_session(client, tips, problem, wait)
    moving = set[str]().union(*(session.robot.moving_joints(tip) for tip in session.tips))
    while not client.spin_until(
            lambda: client.has_another_robot or moving <= client.joints.keys(), NOTICE):
        warn(f'no markers yet: joint_states lack {", ".join(sorted(moving - {*client.joints}))}')
    gc.freeze()    # looking through all that is loaded would take 50 ms each time
    RvizGoals(session, client.node, client.name, lambda: client.has_another_robot).run()
