"""Streaming controllers: positions, and joint commands of simulators."""

from arm_harness import (
    ARM,
    execute,
    execute_later,
    FAST,
    goal_request,
    HOME,
    knows_the_robot,
    mock_robot,
    near,
    POSITIONS,
    stop,
)
from motion_requests import moving
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
    """Return a mock Panda that follows positions."""
    with mock_robot(client, tmp_path_factory.mktemp('mock'),
                    active="['arm_position_controller']") as mock:
        yield mock


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Return a node that moves the mock robot."""
    return start_shared_node(**POSITIONS, **FAST)


@pytest.fixture
def record(client, node, record):
    """Return a record, with the arm at home."""
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    return record


def test_position_stream_moves_the_arm_without_steps(client, record, mock):
    record.commands.clear()
    since = len(record)
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert near(record.at(), ASIDE) < 1e-3
    times, sent = (np.array(values) for values in zip(*record.commands, strict=True))
    assert sent.shape[1] == 7 and len(sent) > 20
    # the start is held for 0.1 s
    held = sent[times < times[0] + 0.08]
    assert np.abs(held - list(HOME.values())).max() < 1e-3
    # two periods at most at once, at the fastest joint's 2.61 rad/s
    assert np.abs(np.diff(np.vstack([list(HOME.values()), sent]), axis=0)).max() < 0.055
    positions = record.way(since).positions
    assert np.abs(positions[:, 0]).max() < 0.401
    assert 'deactivating' not in mock.text


def test_stop_brakes_a_position_stream(client, record):
    asked = moving(client, record, 'execute', 0.1, velocity_scaling=0.5)
    record.commands.clear()
    assert stop(client).success
    assert asked.answer().status == Status.PREEMPTED
    assert 0.1 < record.still()[0] < 1.9
    way = np.array([data[0] for _, data in record.commands])
    steps = np.diff(way)
    assert (steps >= -1e-9).all() and steps.max() < 0.055 and abs(steps[-1]) < 1e-6


def begun(client, record):
    """Request a slow motion; return the future if the arm moves."""
    start = record.at()[0]   # a motion before this one may have failed on its way
    future = execute_later(client, {'panda_joint1': 2.0}, velocity_scaling=0.2)
    eventually(lambda: future.done() or record.at()[0] > start + 0.1, 'a motion or an answer')
    return None if future.done() else future


def test_position_stream_of_another_client_ends_a_motion(client, record):
    publisher = client.node.create_publisher(Float64MultiArray,
                                             'arm_position_controller/commands', 10)
    future = eventually(lambda: begun(client, record), 'the arm moves', 60)
    aside = record.at().tolist()
    eventually(lambda: publisher.get_subscription_count() >= 3, 'all listen')
    with repeating(lambda: publisher.publish(Float64MultiArray(data=aside)), 0.01):
        answer = client.wait(future)
        assert np.abs(record.still() - aside).max() < 1e-6
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'another client sends commands' in answer.message
    count = len(record.commands)
    assert np.abs(record.still() - aside).max() < 1e-6
    # the last of their own commands may have been on its way
    later = [command for _, command in record.commands[count:] if command != aside]
    assert not later, 'something was sent after theirs'
    client.node.destroy_publisher(publisher)


def other(client, joints):
    return client.call(Execute, 'other_ik/execute', goal_request(joints))


@pytest.mark.slow
@pytest.mark.parametrize(('joints', 'words'), [
    (ARM[::-1], ''), ((*ARM[:6], 'elbow'), 'own_controller moves panda_joint1')])
def test_positions_are_sent_in_the_joint_order_of_the_controller(
        client, record, domain, tmp_path, joints, words):
    """No position is sent to a controller of other joints. The arm does not move here."""
    told = []
    with nodes(domain, tmp_path) as start, client.other_node(
            'own_controller', joints=list(joints)) as controller:
        start(('__node:=other_ik',), controllers=['own_controller'], arrival_timeout=0.1,
              max_tracking_error=0.0,
              **{'own_controller.kind': 'position', 'own_controller.group': 'arm'}, **FAST)
        controller.create_subscription(Float64MultiArray, 'own_controller/commands',
                                       lambda message: told.append(list(message.data)),
                                       QoSProfile(depth=1000))
        knows_the_robot(client, 'other_ik')

        def answered():     # not before the controller and its parameters are found
            answer = other(client, ASIDE)
            assert answer.status == Status.CONTROL_FAILED
            if words:
                return words in answer.message
            return told and near(np.array(told[-1][::-1]), ASIDE) < 1e-9
        eventually(answered, 'the goal, backwards, or a refusal', 60)
    assert bool(told) is not bool(words)


@pytest.mark.slow
def test_joint_state_controller_moves_the_arm(client, record, domain, tmp_path):
    """Commands have joint names and velocities."""
    told = []
    subscription = client.node.create_subscription(JointState, 'joint_command', told.append,
                                                   QoSProfile(depth=1000))
    with nodes(domain, tmp_path) as start:
        start(('__node:=other_ik',), controllers=['simulator'],
              **{'simulator.kind': 'joint_state', 'simulator.group': 'arm'}, **FAST)
        answer = eventually(lambda: (found := other(client, ASIDE)).status == Status.SUCCESS
                            and found, 'a motion')
        assert answer.motion_seconds > 0.3
        assert near(record.at(), ASIDE) < 1e-3
    client.node.destroy_subscription(subscription)
    assert tuple(told[-1].name) == ARM and len(told[-1].velocity) == 7
    assert near(np.array(told[-1].position), ASIDE) < 1e-9 and not any(told[-1].velocity)
    assert max(message.velocity[0] for message in told) > 0.3


def test_mock_robot_reports_no_defect(record, mock):
    """Steps are not counted: a late mock robot receives several commands at once."""
    for complaint in ('deactivating', 'was sent to', 'outside its limits'):
        assert complaint not in mock.text, mock.text
