"""The robot that the command receives from ROS topics."""

import threading

import pytest

rclpy = pytest.importorskip('rclpy')
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from ros2_ik.cli.node_client import NodeClient  # noqa: E402
from ros2_ik.core import Robot  # noqa: E402
from ros2_ik.demo.domain import unused_domain  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def publisher(monkeypatch):
    """Return a function that makes publishers of texts, in a ROS domain of its own."""
    domain = unused_domain()
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node('ros2_ik', context=context)   # whose parameters are asked for
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield lambda topic: node.create_publisher(String, topic, LATCHED)
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize('late', [0.0, 1.5])
def test_robot_of_the_node_waits_for_a_late_srdf(publisher, late):
    """Without the SRDF the robot would have other groups and tips."""
    panda = Robot.load('panda')
    publisher('robot_description').publish(String(data=panda.urdf))
    semantic = publisher('robot_description_semantic')
    timer = threading.Timer(late, lambda: semantic.publish(String(data=panda.srdf)))
    timer.start()
    with NodeClient('/ros2_ik') as client:
        found = client.robot(10.0)
    timer.join()
    assert found is not None and found.groups.keys() == panda.groups.keys()


def test_robot_of_the_node_without_an_srdf(publisher):
    panda = Robot.load('panda')
    publisher('robot_description').publish(String(data=panda.urdf))
    with NodeClient('/ros2_ik') as client:
        found = client.robot(10.0)
    assert found is not None and not found.srdf
