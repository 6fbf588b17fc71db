"""What may happen to the node, the robot and the controllers while the arm moves."""

import math
import os
import signal
import time

from arm_harness import (
    ARM,
    at_home,
    execute,
    execute_later,
    FAST,
    HOME,
    knows_the_robot,
    mock_robot,
    near,
    POSITIONS,
    TRAJECTORIES,
)
from node_harness import eventually, NodeProcess, unreachable
import numpy as np
import pytest
from scene_harness import applied, attached, box, diff, empty, pose, state_holding
from std_msgs.msg import String

from ros2_ik.msg import Status

FAR = {'panda_joint1': 2.0}


@pytest.fixture
def mock(client, tmp_path):
    with mock_robot(client, tmp_path) as mock:
        yield mock


def moving(client, record, **fields):
    """Begin a slow motion; gives the future when the arm moves."""
    future = execute_later(client, FAR, velocity_scaling=0.2, **fields)
    eventually(lambda: record.at()[0] > 0.03, 'the arm moves')
    return future


def stops_short(record):
    """Wait until the arm stands, and check that it was not at the goal."""
    assert 0.03 < record.still()[0] < 1.8


@pytest.mark.parametrize(('controllers', 'number'), [
    (TRAJECTORIES, signal.SIGTERM), (POSITIONS, signal.SIGTERM), (TRAJECTORIES, signal.SIGHUP)],
    ids=['trajectory', 'position', 'SIGHUP'])
@pytest.mark.slow
def test_the_node_is_stopped(client, record, mock, start_node, controllers, number):
    """It brakes before it ends, and answers then, also if that takes a second."""
    mock.set('active', controllers['controllers'])
    node = start_node(**controllers, **FAST, **{'joint_limits.panda_joint1.max_acceleration': 0.5})
    at_home(client)
    future = moving(client, record)
    eventually(lambda: record.at()[0] > 0.25, 'the arm is at full speed')
    assert node.end(number) == 0
    since = len(record.states) - 1
    stops_short(record)
    assert client.wait(future).status == Status.PREEMPTED
    times, positions = record.way(since)
    assert np.abs(np.diff(positions, axis=0)).max() < 0.05, mock.text


# not while the request itself runs, whose answer would be that error
ERROR = """
import os, signal, threading
def fail(_, frame):
    while frame:
        if 'endpoints' in frame.f_code.co_filename:
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            return
        frame = frame.f_back
    raise RuntimeError('of a callback')
signal.signal(signal.SIGUSR1, fail)
"""


@pytest.mark.slow
def test_an_error_while_it_ends(client, record, mock, domain, monkeypatch, tmp_path):
    """It brakes all the same."""
    (tmp_path / 'sitecustomize.py').write_text(ERROR)
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}{os.pathsep}{os.environ["PYTHONPATH"]}')
    mock.set('active', POSITIONS['controllers'])
    node = NodeProcess(domain, tmp_path / 'log', {
        **POSITIONS, **FAST, 'joint_limits.panda_joint1.max_acceleration': 0.5})
    try:
        at_home(client)
        future = moving(client, record)
        eventually(lambda: record.at()[0] > 0.25, 'the arm is at full speed')
        at = record.at()[0]
        node.process.terminate()
        time.sleep(0.3)
        node.process.send_signal(signal.SIGUSR1)
        assert node.process.wait(5) == 0 and 'of a callback' in node.text, node.text
    finally:
        node.process.kill()
    answer = client.wait(future)    # where it comes while the motion is looked at, it is told
    assert (answer.status == Status.PREEMPTED
            or (answer.status, answer.message) == (Status.FAILURE, 'RuntimeError: of a callback'))
    stops_short(record)
    assert record.still()[0] - at > 0.13   # 0.19 with 0.5 rad/s^2


@pytest.mark.slow
def test_another_description_comes(client, record, start_node, panda):
    start_node(**TRAJECTORIES, **FAST)
    at_home(client)
    future = moving(client, record)
    client.publish('robot_description', String(data=panda.urdf.replace(
        'velocity="2.1750"', 'velocity="2.0"').replace('<robot ', '<robot  ')), latched=True)
    ended = client.wait(future)
    assert ended.status == Status.INVALID_ROBOT_STATE, ended.message
    assert 'description was replaced' in ended.message
    stops_short(record)
    assert execute(client, HOME).status == Status.SUCCESS   # by the controllers of the new one


@pytest.mark.parametrize('controllers', [
    pytest.param(TRAJECTORIES, id='trajectory'),
    pytest.param(POSITIONS, id='position', marks=pytest.mark.slow)])
def test_something_comes_into_the_way(client, record, mock, start_node, controllers):
    """And something else does not; also if the question holds something of its own."""
    mock.set('active', controllers['controllers'])
    start_node(**controllers, **FAST)
    at_home(client)
    nut = attached(box('nut', 0.01, at=pose(0.0, 0.0, 0.1), frame='panda_hand'),
                   touch=['panda_leftfinger', 'panda_rightfinger'])
    future = moving(client, record, goal=state_holding(nut, at={**HOME, **FAR}))
    aside = box('aside', at=pose(-0.6, -0.6, 0.5))
    applied(client, diff(aside, joints={}))
    ahead = box('ahead', 0.12, at=pose(0.34 * math.cos(1.3), 0.34 * math.sin(1.3), 0.55))
    eventually(lambda: record.at()[0] > 0.1, 'the arm moves on')
    applied(client, diff(ahead, joints={}))
    ended = client.wait(future)
    assert ended.status == Status.INVALID_MOTION_PLAN, ended.message
    assert 'stopped on the way: the scene has changed, and ahead' in ended.message
    assert {'ahead'} < {ended.contacts[0].contact_body_1, ended.contacts[0].contact_body_2}
    assert 0.1 < record.still()[0] < 1.0
    empty(client)
    assert execute(client, HOME).status == Status.SUCCESS


@pytest.mark.slow
def test_nobody_listens(client, record, start_node, mock):
    start_node(controllers=['absent_controller'], **{'absent_controller.group': 'arm'})
    knows_the_robot(client)
    answer = eventually(lambda: (found := execute(client, HOME)).status == Status.CONTROL_FAILED
                        and found, 'an answer of a node that has the robot')
    assert answer.message == 'no subscriber on /absent_controller/joint_trajectory'
    assert answer.motion_seconds == 0


def test_no_controllers(client, record, start_node):
    start_node()
    answer = eventually(
        lambda: (found := execute(client, FAR)).status == Status.CONTROL_FAILED and found,
        'an answer of a node that has the robot')
    assert 'parameter controllers is empty' in answer.message
    answer = client.ik(targets=[unreachable()], tips=['panda_hand'], execute=True)
    assert answer.status == Status.CONTROL_FAILED
    assert answer.message == 'execute: nothing moves the robot: parameter controllers is empty'
    assert near(record.still(), {}) < 1e-3


@pytest.mark.slow
def test_a_controller_that_dies(client, record, start_node, mock):
    start_node(**TRAJECTORIES, **FAST)
    at_home(client)
    future = moving(client, record)
    record.close()   # it listens to the trajectories, too
    mock.process.kill()
    ended = client.wait(future)
    assert ended.status in (Status.CONTROL_FAILED, Status.ROBOT_STATE_STALE), ended.message


@pytest.mark.slow
def test_limits_of_parameters(client, record, start_node):
    node = start_node(**TRAJECTORIES, **FAST, **{
        'joint_limits.panda_joint1.max_velocity': 0.2,
        'joint_limits.panda_joint1.max_acceleration': 0.5,
        'joint_limits.panda_joint2.has_velocity_limits': True,
        'joint_limits.wheel.max_velocity': 1.0})
    at_home(client)
    assert "joint_limits of 'wheel' are ignored" in node.text
    since = len(record.states)
    answer = execute(client, {'panda_joint1': 0.3})
    assert answer.status == Status.SUCCESS and answer.motion_seconds > 0.3 / 0.2
    times, positions = record.way(since, ARM[:1])
    assert (np.abs(np.diff(positions[:, 0]) / np.diff(times)) < 0.25).all()


@pytest.mark.slow
def test_two_controllers(client, record, start_node):
    """One request moves both, in step; two requests each their own, at the same time."""
    start_node(controllers=['arm_controller', 'hand_controller'],
               **{'arm_controller.group': 'arm', 'hand_controller.group': 'hand'}, **FAST)
    at_home(client)
    both = {'panda_joint1': 0.4, 'panda_finger_joint1': 0.03}
    answer = execute(client, both)
    assert answer.status == Status.SUCCESS, answer.message
    state = record.listen()
    assert abs(state['panda_joint1'] - 0.4) < 1e-3
    assert abs(state['panda_finger_joint1'] - 0.03) < 1e-3
    arm = moving(client, record)
    hand = execute(client, {'panda_finger_joint1': 0.0})
    assert hand.status == Status.CONTROL_FAILED
    assert 'another motion, or the servo, moves joint' in hand.message
    hand = execute(client, {'panda_finger_joint1': 0.0}, avoid_collisions=False)
    assert hand.status == Status.SUCCESS and not arm.done()
    assert client.wait(arm).status == Status.SUCCESS


@pytest.mark.parametrize('parameters, text', [
    ({'controllers': ['a'], 'a.kind': 'telepathy'}, "a.kind is 'telepathy'; valid: "
     'follow_joint_trajectory, joint_state, joint_trajectory, position'),
    ({'controllers': ['two words']}, "controllers has 'two words' which is no name"),
    ({'controllers': ['a', 'a']}, "controllers has 'a' twice"),
    ({'controllers': 'a'}, "controllers is 'a'; valid: a list of names"),
    ({'velocity_scaling': 1.5}, 'velocity_scaling is 1.5; valid: 0.001 to 1'),
    ({'while_executing': 'wait'}, "while_executing is 'wait'; valid: refuse, replace"),
    ({'joint_limits.a.max_velocity': -1.0}, 'joint_limits.a.max_velocity is -1')])
@pytest.mark.slow
def test_parameters_that_make_no_sense(start_node, parameters, text):
    node = start_node(**parameters)
    assert node.process.wait(20) == 1
    assert text in node.text, node.text


def test_the_action_without_its_messages(start_node):
    try:
        import control_msgs.action  # noqa: F401
        pytest.skip('control_msgs is installed')
    except ImportError:
        node = start_node(controllers=['a'], **{'a.kind': 'follow_joint_trajectory'})
    assert node.process.wait(20) == 1
    assert "a.kind is 'follow_joint_trajectory': control_msgs is not installed" in node.text


@pytest.mark.slow
def test_a_group_that_the_robot_lacks(client, record, start_node):
    node = start_node(controllers=['a'], **{'a.group': 'leg'})
    eventually(lambda: "controller 'a' has nothing to move: unknown group 'leg'" in node.text,
               'the complaint')
    answer = execute(client, FAR)
    assert answer.status == Status.CONTROL_FAILED and "unknown group 'leg'" in answer.message
