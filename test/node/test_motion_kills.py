"""Motions and the servo when their node ends, unpublished joints, and two controllers."""

import json
import os
from pathlib import Path
import signal
import sys

from arm_harness import (
    distance,
    execute,
    FAST,
    HOME,
    move_home,
    POSITIONS,
    TRAJECTORIES,
    wait_for_robot,
)
from motion_requests import FAR, RequestedMotion, SLOW, start_motion
from node_harness import eventually, NodeProcess, robot_state, stamped
import numpy as np
import pytest
from servo_harness import Servo, twist
from traced_node import MARK

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

TIP, FINGER = 'panda_hand_tcp', 'panda_finger_joint1'


@pytest.fixture(autouse=True)
def trajectory_controllers(mock):
    """Activate the trajectory controllers; the mock robot must report no defect."""
    mock.set('active', ['arm_controller', 'hand_controller'])
    yield
    assert 'defect' not in mock.text, mock.text


@pytest.fixture(scope='module')
def traced(client, domain, mock, tmp_path_factory):
    """
    Return a node that has never received a position of FINGER.

    It logs the source files that its requests use between SIGUSR1 and SIGUSR2.
    """
    mock.set('nan_joint', FINGER)
    node = NodeProcess(domain, tmp_path_factory.mktemp('node') / 'log', {
        'workers': 1, **TRAJECTORIES, **FAST, 'joint_limits.panda_joint1.max_acceleration': 0.5},
        program=(sys.executable, str(Path(__file__).with_name('traced_node.py'))))
    yield node
    node.process.kill()


def test_motion_past_a_joint_without_joint_states_is_refused(client, traced):
    """The seed has a position of the joint, but no reading confirms it."""
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = 0.45, 0.1, 0.45
    request = {'tips': [TIP], 'targets': [stamped(T)], 'group': 'arm',
               'execute': True, 'max_joint_change': 3.0, 'seed': robot_state({FINGER: 0.02})}
    eventually(lambda: client.ik(**request).status == Status.ROBOT_STATE_STALE
               and FINGER in client.ik(**request).message, 'a refusal that names the joint')


@pytest.mark.parametrize(('moves', 'max_files'), [(False, 16), (True, 29)])
def test_repeated_request_runs_through_few_source_files(
        client, traced, mock, panda, moves, max_files):
    mock.set('nan_joint', '')
    move_home(client)
    goal = Configuration(panda, {**HOME, 'panda_joint1': 0.1, 'panda_joint4': -2.3})
    os.kill(traced.pid, signal.SIGUSR1)
    for _ in range(2):      # the second request uses cached objects
        answer = client.ik(targets=[stamped(goal.transform(TIP))], tips=[TIP],
                           seed=robot_state(HOME), execute=moves)
        assert answer.status == Status.SUCCESS, answer.message
    os.kill(traced.pid, signal.SIGUSR2)
    lines = [line for line in traced.text.splitlines() if line.startswith(MARK)]
    files = json.loads(lines[-1].removeprefix(MARK))
    assert len(files) <= max_files, '\n'.join(files)
    assert 'node/endpoints/compute_ik.py' in files


def test_terminated_node_brakes_before_it_ends(client, record, mock, traced):
    """The node also responds, even if braking takes a second."""
    mock.set('nan_joint', '')
    move_home(client)
    assert client.set('velocity_scaling', 0.1).successful
    motion = start_motion(client, record, 'compute_ik')
    assert traced.end(signal.SIGTERM, 20.0) == 0, traced.text
    since = len(record) - 1
    response = motion.response()
    assert response.status == Status.PREEMPTED, response.message
    assert 'stopped on the way: the node was stopped' in response.message
    assert 0.03 < record.wait_for_rest()[0] < 1.9
    assert np.abs(np.diff(record.motion(since)[1], axis=0)).max() < 0.05, mock.text


@pytest.mark.parametrize(('number', 'active'), [
    (signal.SIGTERM, TRAJECTORIES),
    pytest.param(signal.SIGINT, POSITIONS, marks=pytest.mark.slow)])
def test_servo_brakes_before_its_node_ends(make_client, mock, start_node, active, number):
    """Past defects: the servo was killed in full motion, and a stream ended without a ramp."""
    mock.set('active', active['controllers'])
    node = start_node(**active, **FAST)
    servo = Servo(move_home(make_client()), mock, active is POSITIONS)
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)):
        before = servo.q()
        eventually(lambda: np.abs(servo.q() - before).max() > 0.1, 'full motion')
        os.kill(node.pid, number)
        assert node.process.wait(20) == 0
        servo.wait_for_rest()
    servo.assert_limits(since)
    servo.record.close()


@pytest.mark.slow
def test_motion_of_a_killed_node_is_finished_and_the_next_is_idle(make_client, record, start_node):
    """The controller finishes its trajectory; the next node sends nothing without a request."""
    node = start_node(**TRAJECTORIES, **SLOW)
    lost = start_motion(move_home(make_client()), record, 'compute_ik')
    node.process.kill()
    node.process.wait(20)
    sent = len(record.trajectories)
    start_node(**TRAJECTORIES, **FAST)
    wait_for_robot(client := make_client())
    assert distance(record.wait_for_rest(), FAR) < 1e-3 and len(record.trajectories) == sent
    assert not lost.done()
    assert RequestedMotion(client, 'execute', {}).response().status == Status.SUCCESS
    assert distance(record.wait_for_rest(), {}) < 1e-3


@pytest.mark.slow
def test_position_stream_of_a_killed_node_ends_at_its_last_command(
        make_client, mock, record, start_node):
    """Without a braking ramp; see docs/safety.md."""
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    node = start_node(**POSITIONS, **SLOW)
    start_motion(move_home(make_client()), record, 'compute_ik')
    node.process.kill()
    node.process.wait(20)
    stopped = record.wait_for_rest()
    assert 0.03 < stopped[0] < FAR['panda_joint1'] - 0.5
    assert np.abs(stopped - record.commands[-1][1]).max() < 1e-3


@pytest.mark.slow
def test_two_controllers_move_for_one_request_or_for_two_at_once(make_client, record, start_node):
    start_node(controllers=['arm_controller', 'hand_controller'],
               **{'arm_controller.group': 'arm', 'hand_controller.group': 'hand'}, **FAST)
    client = move_home(make_client())
    answer = execute(client, {'panda_joint1': 0.4, 'panda_finger_joint1': 0.03})
    assert answer.status == Status.SUCCESS, answer.message
    state = record.read_all()
    assert abs(state['panda_joint1'] - 0.4) < 1e-3
    assert abs(state['panda_finger_joint1'] - 0.03) < 1e-3
    arm = start_motion(client, record, 'execute', 0.43, velocity_scaling=0.2)
    hand = execute(client, {'panda_finger_joint1': 0.0})
    assert hand.status == Status.CONTROL_FAILED
    assert 'another motion, or the servo, moves joint' in hand.message
    hand = execute(client, {'panda_finger_joint1': 0.0}, avoid_collisions=False)
    assert hand.status == Status.SUCCESS and not arm.done()
    assert arm.response().status == Status.SUCCESS
