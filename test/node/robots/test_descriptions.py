"""New, changed and malformed robot descriptions."""

from moveit_msgs.msg import PlanningScene
from node_harness import eventually, reachable
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from scene_harness import apply_scene, check_state
from small_arm import URDF
from std_msgs.msg import Bool, String

from ros2_ik.core import Robot
from ros2_ik.msg import Status
from ros2_ik.srv import GetPlanningScene


@pytest.fixture(scope='module')
def ur5():
    return Robot.load('ur5')


def wait_for_refusal(client, node, text, topic='robot_description'):
    """Publish a description; return the log line that refuses it."""
    before = node.text.count('refused')
    client.publish(topic, String(data=text), latched=True)
    eventually(lambda: node.text.count('refused') > before, 'a refusal')
    return [line for line in node.text.splitlines() if 'refused' in line][-1]


@pytest.fixture(scope='module')
def ready(client):
    """Return the received values of ~/ready, including the latched value."""
    values = []
    subscription = client.node.create_subscription(
        Bool, 'ros2_ik/ready', lambda message: values.append(message.data),
        QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    yield values
    client.node.destroy_subscription(subscription)


def test_requests_before_a_description_are_refused(client, node, ready):
    eventually(lambda: ready == [False], 'not ready')
    for response in (client.ik(), client.fk()):
        assert response.status == Status.INVALID_ROBOT_STATE
        assert 'no robot yet' in response.message and 'robot_description' in response.message
    response = apply_scene(client, PlanningScene(is_diff=True))
    assert not response.success and 'there is no robot yet' in response.message
    response = client.call(GetPlanningScene, 'ros2_ik/get_planning_scene',
                           GetPlanningScene.Request())
    assert response.status == check_state(client).status == Status.INVALID_ROBOT_STATE


def test_volatile_publisher_and_malformed_description_are_named_in_replies(
        client, node, panda):
    publisher = client.node.create_publisher(String, 'robot_description', 1)
    publisher.publish(String(data=panda.urdf))
    eventually(lambda: 'incompatible QoS' in node.text and 'DURABILITY' in node.text, 'a warning')
    assert 'transient_local' in client.ik().message
    client.node.destroy_publisher(publisher)
    wait_for_refusal(client, node, '<robot name="x"><link name="a"/>')
    assert 'not well-formed' in client.ik().message


def test_new_description_replaces_the_robot(client, node, panda, ur5, ready):
    for robot, tip in ((panda, 'panda_hand_tcp'), (ur5, 'tool0'), (panda, 'panda_hand_tcp')):
        client.publish_robot(robot)
        response = client.ik(targets=[reachable(robot, tip)])
        assert response.status == Status.SUCCESS, response.message
        assert set(response.solution.joint_state.name) <= set(robot.joint_names)
    eventually(lambda: ready[-1], 'ready')


def test_repeated_description_is_ignored(client, node, panda):
    client.publish_robot(panda)
    count = node.text.count("robot 'panda'")
    for _ in range(5):
        client.publish('robot_description', String(data=panda.urdf), latched=True)
        assert client.ik().message.startswith('there is no target')
    assert node.text.count("robot 'panda'") == count


@pytest.fixture
def described(client, node, panda):
    client.publish_robot(panda)
    return node


def test_malformed_description_keeps_the_old_robot(client, described, panda):
    line = wait_for_refusal(client, described, URDF.replace('<child link="hand"/>',
                                                            '<child link="hnad"/>'))
    assert 'hnad' in line and "robot 'panda' stays" in line
    assert client.ik(targets=[reachable(panda, 'panda_hand_tcp')]).status == Status.SUCCESS


def test_malformed_srdf_keeps_the_old_robot(client, described, panda):
    line = wait_for_refusal(client, described, '<robot name="panda"><group',
                            'robot_description_semantic')
    assert 'SRDF' in line and "robot 'panda' stays" in line
    assert client.ik(group='arm').message.startswith('there is no target')
