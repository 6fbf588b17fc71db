"""One motion after another: what could make the arm jump, or go where nobody sent it."""

from arm_harness import (
    ARM,
    at_home,
    execute,
    execute_later,
    FAST,
    HOME,
    mock_robot,
    near,
    POSITIONS,
    TRAJECTORIES,
)
from motion_requests import Requested
from node_harness import eventually, repeating
import numpy as np
import pytest
import rclpy
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow

FASTEST = np.array([2.175] * 4 + [2.61] * 3)


@pytest.fixture
def mock(client, tmp_path):
    with mock_robot(client, tmp_path) as mock:
        yield mock


@pytest.mark.parametrize('after', [0.1, 0.4, 0.8])
def test_a_goal_is_cancelled_and_another_one_sent(client, record, mock, start_node, after):
    """The second one is planned from the way of the first one, which is stopped just then."""
    start_node(**TRAJECTORIES, **FAST, while_executing='replace')
    at_home(client)
    since = len(record.states)
    first = Requested(client, 'solve_constrained_ik', {'panda_joint1': 2.0})
    eventually(lambda: record.at()[0] > after, 'the arm moves')
    second = execute_later(client, {'panda_joint1': -0.5, 'panda_joint4': -2.0})
    first.goal.cancel()
    first.answer()
    answer = client.wait(second, 90)
    assert answer.status in (Status.SUCCESS, Status.CONTROL_FAILED), answer.message
    at_end = record.still()
    if answer.status == Status.SUCCESS:
        assert near(at_end, {'panda_joint1': -0.5, 'panda_joint4': -2.0}) < 1e-3
    times, positions = record.way(since)
    speeds = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None]
    assert (speeds.max(axis=0) < 1.1 * FASTEST).all()
    assert 'defect:' not in mock.text, mock.text


def test_a_controller_that_does_not_say_its_joints(client, record, start_node):
    """Their order may be another one than ours: nothing is sent."""
    node = rclpy.create_node('mute_controller', context=client.context,
                             use_global_arguments=False, start_parameter_services=False)
    told = []
    node.create_subscription(Float64MultiArray, 'mute_controller/commands', told.append,
                             QoSProfile(depth=1000))
    client._executor.add_node(node)
    try:
        start_node(controllers=['mute_controller'], **{
            'mute_controller.kind': 'position', 'mute_controller.group': 'arm'}, **FAST)
        answer = eventually(lambda: 'which joints' in (
            found := execute(client, {'panda_joint1': 0.2})).message and found, 'an answer', 60)
    finally:
        client._executor.remove_node(node)
        node.destroy_node()
    assert answer.status == Status.CONTROL_FAILED and answer.motion_seconds == 0
    assert 'controller /mute_controller does not say within 2 s' in answer.message
    assert not told


def test_joints_that_nobody_knows_of(client, record, start_node, mock):
    """The fingers could touch something: without them the way is not checked at neutral."""
    from sensor_msgs.msg import JointState
    mock.set('publish_joint_states', False)
    node = client.node
    publisher = node.create_publisher(JointState, 'joint_states', 10)
    message = JointState(name=list(ARM), position=[HOME[joint] for joint in ARM])
    start_node(**TRAJECTORIES, **FAST)

    def tell():
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)

    def asked():
        answer = execute(client, {'panda_joint1': 0.0})
        return answer if 'finger' in answer.message else None

    with repeating(tell, 0.02):
        answer = eventually(asked, 'an answer', 60)
    node.destroy_publisher(publisher)
    assert answer.status == Status.ROBOT_STATE_STALE and answer.motion_seconds == 0
    assert "not known where joint 'panda_finger_joint1' stands" in answer.message


def test_two_controllers_on_one_topic(start_node):
    node = start_node(controllers=['one', 'two'], **{
        'one.kind': 'position', 'two.kind': 'position', 'two.topic': '/one/commands'})
    assert node.process.wait(30) == 1
    assert "two.topic is '/one/commands', which is that of 'one', too" in node.text


def test_no_second_end_is_told(client, record, mock, start_node):
    """A stream repeats its end for a while; not when another controller has these joints."""
    mock.set('active', POSITIONS['controllers'])
    start_node(controllers=['arm_position_controller', 'simulator'], **{
        'arm_position_controller.kind': 'position', 'arm_position_controller.group': 'arm',
        'simulator.kind': 'joint_state'}, **FAST)
    at_home(client)
    record.commands.clear()
    assert execute(client, {'panda_joint1': 0.1}).status == Status.SUCCESS
    both = execute_later(client, {'panda_joint1': 0.9, 'panda_finger_joint1': 0.01})
    eventually(lambda: record.at()[0] > 0.2, 'the other controller moves the arm')
    count = len(record.commands)
    assert client.wait(both, 60).status == Status.SUCCESS
    assert len(record.commands) == count
