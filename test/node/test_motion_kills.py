"""Motions and the servo when the node ends; before that, an unpublished joint, and its files."""

import json
import os
from pathlib import Path
import signal
import sys

from arm_harness import (
    at_home,
    execute,
    FAST,
    HOME,
    knows_the_robot,
    near,
    POSITIONS,
    TRAJECTORIES,
)
from motion_requests import FAR, moving, Requested, SLOW
from node_harness import eventually, NodeProcess, seed, stamped
import numpy as np
import pytest
from servo_harness import Servo, twist
from traced_node import MARK

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

TIP, FINGER = 'panda_hand_tcp', 'panda_finger_joint1'


@pytest.fixture(autouse=True)
def usual(mock):
    """Use the trajectory controllers; the mock robot must report no defect."""
    mock.set('active', ['arm_controller', 'hand_controller'])
    yield
    assert 'defect' not in mock.text, mock.text


@pytest.fixture(scope='module')
def traced(client, domain, mock, tmp_path_factory):
    """
    Return a node that has never received a position of FINGER.

    It logs the files that its requests pass between SIGUSR1 and SIGUSR2.
    """
    mock.set('nan_joint', FINGER)
    node = NodeProcess(domain, tmp_path_factory.mktemp('node') / 'log', {
        'workers': 1, **TRAJECTORIES, **FAST, 'joint_limits.panda_joint1.max_acceleration': 0.5},
        program=(sys.executable, str(Path(__file__).with_name('traced_node.py'))))
    yield node
    node.process.kill()


def test_unpublished_joint_is_taken_from_the_seed(client, traced):
    """For example the joint of a gripper with a driver of its own."""
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = 0.45, 0.1, 0.45
    question = {'tips': [TIP], 'targets': [stamped(T)], 'group': 'arm',
                'execute': True, 'max_joint_change': 3.0}
    eventually(lambda: client.ik(**question).status == Status.ROBOT_STATE_STALE
               and FINGER in client.ik(**question).message, 'a refusal that names the joint')
    answer = client.ik(**question, seed=seed({FINGER: 0.02}))
    assert answer.status == Status.SUCCESS, answer.message
    assert f"no joint_states of joint '{FINGER}': checks use its position" in answer.message


@pytest.mark.parametrize(('moves', 'most'), [(False, 16), (True, 29)])
def test_repeated_request_enters_few_files(client, traced, mock, panda, moves, most):
    mock.set('nan_joint', '')
    at_home(client)
    there = Configuration(panda, {**HOME, 'panda_joint1': 0.1, 'panda_joint4': -2.3})
    os.kill(traced.pid, signal.SIGUSR1)
    for _ in range(2):      # the second has everything made
        answer = client.ik(targets=[stamped(there.transform(TIP))], tips=[TIP], seed=seed(HOME),
                           execute=moves)
        assert answer.status == Status.SUCCESS, answer.message
    os.kill(traced.pid, signal.SIGUSR2)
    lines = [line for line in traced.text.splitlines() if line.startswith(MARK)]
    passed = json.loads(lines[-1].removeprefix(MARK))
    assert len(passed) <= most, '\n'.join(passed)
    assert 'node/endpoints/compute_ik.py' in passed


def test_terminated_node_brakes_before_it_ends(client, record, mock, traced):
    """It also responds, even if braking takes a second."""
    mock.set('nan_joint', '')
    at_home(client)
    assert client.set('velocity_scaling', 0.1).successful
    asked = moving(client, record, 'compute_ik')
    assert traced.end(signal.SIGTERM, 20.0) == 0, traced.text
    since = len(record) - 1
    ended = asked.answer()
    assert ended.status == Status.PREEMPTED, ended.message
    assert 'stopped on the way: the node was stopped' in ended.message
    assert 0.03 < record.still()[0] < 1.9
    assert np.abs(np.diff(record.way(since)[1], axis=0)).max() < 0.05, mock.text


@pytest.mark.parametrize(('number', 'active'), [
    (signal.SIGTERM, TRAJECTORIES),
    pytest.param(signal.SIGINT, POSITIONS, marks=pytest.mark.slow)])
def test_servo_of_an_ending_node_brakes(newcomer, mock, start_node, active, number):
    """Past defect: it was killed in full motion, and a stream ended without a ramp."""
    mock.set('active', active['controllers'])
    node = start_node(**active, **FAST)
    servo = Servo(at_home(newcomer()), mock, active is POSITIONS)
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)):
        before = servo.q()
        eventually(lambda: np.abs(servo.q() - before).max() > 0.1, 'full motion')
        os.kill(node.pid, number)
        assert node.process.wait(20) == 0
        servo.rest()
    servo.judge(since)
    servo.record.close()


@pytest.mark.slow
def test_motion_of_a_killed_node_ends_and_the_next_node_is_idle(newcomer, record, start_node):
    """The controller finishes its trajectory; the next node sends nothing until it is asked."""
    node = start_node(**TRAJECTORIES, **SLOW)
    lost = moving(at_home(newcomer()), record, 'compute_ik')
    node.process.kill()
    node.process.wait(20)
    sent = len(record.trajectories)
    start_node(**TRAJECTORIES, **FAST)
    knows_the_robot(other := newcomer())
    assert near(record.still(), FAR) < 1e-3 and len(record.trajectories) == sent
    assert not lost.done()
    assert Requested(other, 'execute', {}).answer().status == Status.SUCCESS
    assert near(record.still(), {}) < 1e-3


@pytest.mark.slow
def test_position_stream_of_a_killed_node_ends_at_its_last_command(
        newcomer, mock, record, start_node):
    """Without a braking ramp; see docs/safety.md."""
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    node = start_node(**POSITIONS, **SLOW)
    moving(at_home(newcomer()), record, 'compute_ik')
    node.process.kill()
    node.process.wait(20)
    stopped = record.still()
    assert 0.03 < stopped[0] < FAR['panda_joint1'] - 0.5
    assert np.abs(stopped - record.commands[-1][1]).max() < 1e-3


@pytest.mark.slow
def test_two_controllers_move_in_step_or_independently(newcomer, record, start_node):
    """One request moves both in step; two requests move one each at the same time."""
    start_node(controllers=['arm_controller', 'hand_controller'],
               **{'arm_controller.group': 'arm', 'hand_controller.group': 'hand'}, **FAST)
    client = at_home(newcomer())
    answer = execute(client, {'panda_joint1': 0.4, 'panda_finger_joint1': 0.03})
    assert answer.status == Status.SUCCESS, answer.message
    state = record.listen()
    assert abs(state['panda_joint1'] - 0.4) < 1e-3
    assert abs(state['panda_finger_joint1'] - 0.03) < 1e-3
    arm = moving(client, record, 'execute', 0.43, velocity_scaling=0.2)
    hand = execute(client, {'panda_finger_joint1': 0.0})
    assert hand.status == Status.CONTROL_FAILED
    assert 'another motion, or the servo, moves joint' in hand.message
    hand = execute(client, {'panda_finger_joint1': 0.0}, avoid_collisions=False)
    assert hand.status == Status.SUCCESS and not arm.done()
    assert arm.answer().status == Status.SUCCESS
