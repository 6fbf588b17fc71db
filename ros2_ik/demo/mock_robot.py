"""A node that looks like a robot: its description, and its joints standing still."""

import argparse
from collections.abc import Sequence
import signal
import sys

from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ros2_ik.core import IKError, Robot, shipped_robots, UnknownRobotError

PERIOD = 0.01   # seconds between joint_states
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class MockRobot(Node):
    """
    Publishes robot_description and robot_description_semantic once, joint_states at 100 Hz.

    Parameter `robot`: which of the shipped robots. Its actuated joints stand at home.
    """

    def __init__(self, robot: str) -> None:
        super().__init__('mock_robot')
        described = ParameterDescriptor(description='shipped robot', read_only=True)
        name = self.declare_parameter('robot', robot, described).value
        shipped = shipped_robots().get(name)
        if shipped is None:
            raise UnknownRobotError(name, tuple(shipped_robots()))
        self._robot = shipped.load()
        self._values = _positions(self._robot, shipped.home)
        texts = {'robot_description_semantic': self._robot.srdf,
                 'robot_description': self._robot.urdf}
        self._descriptions = [self._publish_text(topic, text)
                              for topic, text in texts.items() if text]
        self._joint_states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_timer(PERIOD, self._publish_joint_states)
        self.get_logger().info(f'{name} stands at home, {len(self._values)} joints')

    def _publish_text(self, topic: str, text: str) -> object:
        publisher = self.create_publisher(String, topic, LATCHED)
        publisher.publish(String(data=text))
        return publisher   # latched: the text lives as long as the publisher

    def _publish_joint_states(self) -> None:
        message = JointState(name=list(self._values), position=list(self._values.values()))
        message.header.stamp = self.get_clock().now().to_msg()
        self._joint_states.publish(message)


def _positions(robot: Robot, home: dict[str, float]) -> dict[str, float]:
    values = robot.to_joints(robot.to_q(home))
    return {joint.name: float(values[joint.name]) for joint in robot.joints if joint.single}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns the exit code."""
    words = sys.argv if arguments is None else ['mock_robot', *arguments]
    parser = argparse.ArgumentParser(prog='mock_robot', description=__doc__)
    parser.add_argument('--robot', default='panda', help='shipped robot (default: %(default)s)')
    args = parser.parse_args(remove_ros_args(words)[1:])
    stopping: list[bool] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.append(True))
    rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = MockRobot(args.robot)
    except IKError as error:
        print(f'mock_robot: {error}', file=sys.stderr)
        rclpy.shutdown()
        return 2
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stopping:   # a signal handler runs only when spin_once returns
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    return 0
