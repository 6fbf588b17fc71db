"""Streaming controllers: position controllers, and joint_command topics of simulators."""

from arm_harness import (
    ARM,
    distance,
    execute,
    execute_async,
    FAST,
    goal_request,
    HOME,
    mock_robot,
    POSITIONS,
    stop,
    wait_for_robot,
)
from motion_requests import start_motion
from node_harness import eventually, nodes, repeating
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_ik.msg import Status
from ros2_ik.srv import Execute

ASIDE = {'panda_joint1': 0.4, 'panda_joint4': -2.0}


@pytest.fixture(scope='module')
def mock(client, tmp_path_factory):
    """Return a mock Panda that follows a position stream."""
    with mock_robot(client, tmp_path_factory.mktemp('mock'),
                    active="['arm_position_controller']") as mock:
        yield mock


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Return a node that moves the mock robot by a position stream."""
    return start_shared_node(**POSITIONS, **FAST)


@pytest.fixture
def record(client, node, record):
    """Return a record of the arm, which is at home."""
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    eventually(record.has_command_publisher, 'the publisher of positions')
    return record


def test_position_stream_moves_the_arm_without_steps(client, record, mock):
    record.commands.clear()
    since = len(record)
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert distance(record.read(), ASIDE) < 1e-3
    times, sent = (np.array(values) for values in zip(*record.commands, strict=True))
    assert sent.shape[1] == 7 and len(sent) > 20
    # the stream repeats the start for 0.1 s
    start = sent[times < times[0] + 0.08]
    assert np.abs(start - list(HOME.values())).max() < 1e-3
    # at most two periods between commands, at 2.61 rad/s of the fastest joint
    assert np.abs(np.diff(np.vstack([list(HOME.values()), sent]), axis=0)).max() < 0.055
    positions = record.motion(since).positions
    assert np.abs(positions[:, 0]).max() < 0.401
    assert 'deactivating' not in mock.text


def test_stop_brakes_a_position_stream(client, record):
    motion = start_motion(client, record, 'execute', 0.1, velocity_scaling=0.5)
    record.commands.clear()
    assert stop(client).success
    assert motion.response().status == Status.PREEMPTED
    assert 0.1 < record.wait_for_rest()[0] < 1.9
    positions = np.array([data[0] for _, data in record.commands])
    steps = np.diff(positions)
    assert (steps >= -1e-9).all() and steps.max() < 0.055 and abs(steps[-1]) < 1e-6


def start_slow_motion(client, record):
    """Request a slow motion; return the future if the arm moves, else None."""
    start = record.read()[0]   # an earlier attempt may have moved the arm
    future = execute_async(client, {'panda_joint1': 2.0}, velocity_scaling=0.2)
    eventually(lambda: future.done() or record.read()[0] > start + 0.1, 'a motion or an answer')
    return None if future.done() else future


def test_position_stream_of_another_client_ends_a_motion(client, record):
    publisher = client.node.create_publisher(Float64MultiArray,
                                             'arm_position_controller/commands', 10)
    future = eventually(lambda: start_slow_motion(client, record), 'the arm moves', 60)
    aside = record.read().tolist()
    eventually(lambda: publisher.get_subscription_count() >= 3, 'all subscribers')
    with repeating(lambda: publisher.publish(Float64MultiArray(data=aside)), 0.01):
        answer = client.wait(future)
        assert np.abs(record.wait_for_rest() - aside).max() < 1e-6
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'another client sends commands' in answer.message
    count = len(record.commands)
    assert np.abs(record.wait_for_rest() - aside).max() < 1e-6
    # the last foreign commands may arrive late
    own = [command for _, command in record.commands[count:] if command != aside]
    assert not own, 'a command followed the foreign commands'
    client.node.destroy_publisher(publisher)


def execute_on_other_node(client, joints):
    return client.call(Execute, 'other_ik/execute', goal_request(joints))


@pytest.mark.slow
@pytest.mark.parametrize(('joints', 'words'), [
    (ARM[::-1], ''), ((*ARM[:6], 'elbow'), 'own_controller moves panda_joint1')])
def test_positions_are_sent_in_the_joint_order_of_the_controller(
        client, record, domain, tmp_path, joints, words):
    """No position is sent to a controller of other joints. The mock arm does not move."""
    sent = []
    with nodes(domain, tmp_path) as start, client.other_node(
            'own_controller', joints=list(joints)) as controller:
        start(('__node:=other_ik',), controllers=['own_controller'], arrival_timeout=0.1,
              max_tracking_error=0.0,
              **{'own_controller.kind': 'position', 'own_controller.group': 'arm'}, **FAST)
        controller.create_subscription(Float64MultiArray, 'own_controller/commands',
                                       lambda message: sent.append(list(message.data)),
                                       QoSProfile(depth=1000))
        wait_for_robot(client, 'other_ik')

        def is_done():     # later than the discovery of the controller
            answer = execute_on_other_node(client, ASIDE)
            assert answer.status == Status.CONTROL_FAILED
            if words:
                return words in answer.message
            return sent and distance(np.array(sent[-1][::-1]), ASIDE) < 1e-9
        eventually(is_done, 'the goal in reverse joint order, or a refusal', 60)
    assert bool(sent) is not bool(words)


@pytest.mark.slow
def test_joint_state_controller_moves_the_arm(client, record, domain, tmp_path):
    sent = []
    subscription = client.node.create_subscription(JointState, 'joint_command', sent.append,
                                                   QoSProfile(depth=1000))
    with nodes(domain, tmp_path) as start:
        start(('__node:=other_ik',), controllers=['simulator'],
              **{'simulator.kind': 'joint_state', 'simulator.group': 'arm'}, **FAST)
        answer = eventually(
            lambda: (found := execute_on_other_node(client, ASIDE)).status == Status.SUCCESS
            and found, 'a motion')
        assert answer.motion_seconds > 0.3
        assert distance(record.read(), ASIDE) < 1e-3
    client.node.destroy_subscription(subscription)
    assert tuple(sent[-1].name) == ARM and len(sent[-1].velocity) == 7
    assert distance(np.array(sent[-1].position), ASIDE) < 1e-9 and not any(sent[-1].velocity)
    assert max(message.velocity[0] for message in sent) > 0.3


def test_mock_robot_reports_no_defect(record, mock):
    """Step defects are ignored: a late mock robot receives several commands at once."""
    for defect in ('deactivating', 'was sent to', 'outside its limits'):
        assert defect not in mock.text, mock.text
