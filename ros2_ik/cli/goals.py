"""`ros2_ik goals`: interactive markers in RViz for the robot of a running node."""

import argparse
import gc
from typing import TYPE_CHECKING

from ros2_ik.cli.arguments import add_node_arguments, BadQuestion, Commands, Exit, warn
from ros2_ik.cli.view import node_session

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient

EXAMPLE = """examples:
  ros2_ik goals --tip left_gripper right_gripper
  rviz2 -d $(ros2 pkg prefix ros2_ik)/share/ros2_ik/config/ros2_ik.rviz"""
WARNING_PERIOD = 5.0    # time between warnings that joint_states are incomplete [s]


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'goals', help='drag goals in RViz and see the answers', epilog=EXAMPLE,
        description='Serve interactive markers on NODE/goals: drag the marker at the tip in RViz, '
                    'and a ghost shows the answer of the node. Only the menu moves the robot.')
    add_node_arguments(parser, 'the node and its robot')
    parser.add_argument('--tip', nargs='+', action='extend', metavar='TIP', default=[],
                        help='frames to drag (default: the default tip of solve)')
    parser.add_argument('--problem', metavar='FILE',
                        help='problem file of `constrained`, with constraints and costs')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Serve the markers until Ctrl-C; raises BadQuestion when the robot_description changes."""
    import rclpy  # noqa: F401  (first: without ROS the error names rclpy)

    from ros2_ik.cli.node_client import NodeClient
    with NodeClient(args.node) as client:
        serve(client, args.tip, args.problem, args.wait)
    raise BadQuestion('another robot_description was received: start the command again')


def serve(client: 'NodeClient', tips: list[str], problem: str | None, wait: float) -> None:
    """Serve the markers until the node's robot_description changes; raises BadQuestion."""
    from ros2_ik.view.rviz_goals import RvizGoals
    session = node_session(client, tips, problem, wait)
    moving = set[str]().union(*(session.robot.moving_joints(tip) for tip in session.tips))
    while not client.spin_until(
            lambda: client.has_another_robot or moving <= client.joints.keys(), WARNING_PERIOD):
        warn(f'no markers yet: joint_states lack {", ".join(sorted(moving - {*client.joints}))}')
    # a garbage collection of all loaded modules takes 50 ms, which delays the markers
    gc.freeze()
    RvizGoals(session, client.node, client.name, lambda: client.has_another_robot).run()
