"""The mock robot: topics, TF, faults, position controller, joint_command, end and docs page."""

from contextlib import suppress
import math
from pathlib import Path
import re
import signal
import subprocess
import time
from xml.etree import ElementTree

from judge import FileJudge
from mock_harness import (
    ARM,
    positions,
    running_mock,
    seconds,
    TIMEOUT,
    TOPIC,
    trajectory,
    velocities,
)
from node_harness import eventually, installed
import numpy as np
import pinocchio as pin
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from tf2_msgs.msg import TFMessage
import yaml

from ros2_ik.core import Robot, shipped_robots
from ros2_ik.mock.controlled_groups import controlled_groups, node_parameters, TRAJECTORY
from ros2_ik.mock.robot import FAULTS

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def receive_descriptions(mock, messages=100):
    """Return the latched descriptions and the joint states of a mock robot."""
    texts, states = {}, mock.states
    for topic in ('robot_description', 'robot_description_semantic'):
        mock.node.create_subscription(
            String, topic, lambda message, topic=topic: texts.update({topic: message.data}),
            LATCHED)
    mock.until(lambda: len(texts) == 2 and len(states) >= messages, 'texts and joint states')
    return texts, states


@pytest.mark.parametrize(('robot', 'signal_number'), [
    ('panda', signal.SIGINT), ('talos', signal.SIGTERM)])
def test_descriptions_and_states_of_a_robot_at_home_are_published(tmp_path, robot, signal_number):
    with running_mock(tmp_path, '--robot', robot) as mock:
        texts, states = receive_descriptions(mock)    # a late subscription
        while mock.process.poll() is None:    # launch repeats Ctrl-C
            mock.process.send_signal(signal_number)
            with suppress(subprocess.TimeoutExpired):
                mock.process.wait(0.005)
        assert mock.process.returncode == 0
    urdf = ElementTree.fromstring(texts['robot_description'])
    moving = {j.get('name'): j for j in urdf.findall('joint') if j.get('type') != 'fixed'}
    shipped = shipped_robots()[robot]
    assert set(states[0].name) == set(moving)
    values = dict(zip(states[0].name, states[0].position, strict=True))
    assert {name: values[name] for name in shipped.home} == shipped.home
    for name, joint in moving.items():
        limit = joint.find('limit')
        if joint.get('type') in ('revolute', 'prismatic'):
            assert float(limit.get('lower')) <= values[name] <= float(limit.get('upper'))
    groups = ElementTree.fromstring(texts['robot_description_semantic']).findall('group')
    assert shipped.group in {group.get('name') for group in groups}


def test_joint_states_are_published_at_100_hz_with_current_stamps(mock):
    _, states = receive_descriptions(mock, 150)
    stamps = [s.header.stamp.sec + s.header.stamp.nanosec * 1e-9 for s in states]
    assert 0 <= time.time() - stamps[-1] < 5
    periods = sorted(b - a for a, b in zip(stamps, stamps[1:], strict=False))
    assert periods[len(periods) // 2] == pytest.approx(0.01, rel=0.2)


@pytest.mark.parametrize(('arguments', 'reason'), [
    (['--robot', 'pandaa'], "did you mean 'panda'"),
    (['--ros-args', '-p', 'active:=[]'], 'active has no value'),
    (['--ros-args', '-r', '__node:=robot'], "'robot' would replace 'arm_controller': leave out")])
def test_malformed_command_lines_are_refused(arguments, reason):
    run = subprocess.run([installed('mock_robot'), *arguments], capture_output=True, text=True,
                         timeout=TIMEOUT)
    assert run.returncode == 2
    assert reason in run.stderr and 'Traceback' not in run.stderr


def test_interrupt_during_the_imports_ends_the_mock_quietly():
    process = subprocess.Popen([installed('mock_robot')], stderr=subprocess.PIPE, text=True)
    memory_map = Path(f'/proc/{process.pid}/maps')
    eventually(lambda: 'numpy' in memory_map.read_text(), 'an import')
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=TIMEOUT)[1] == '' and process.returncode == 0


# -- TF -----------------------------------------------------------------------------------

ROOT = 'panda_link0'


def to_matrix(transform):
    p, q = transform.translation, transform.rotation
    return pin.XYZQUATToSE3(np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])).homogeneous


def test_tf_of_the_links_agrees_with_yourdfpy(mock):
    known = {}
    subscription = mock.node.create_subscription(
        TFMessage, '/tf', lambda message: known.update(
            {each.child_frame_id: (each.header.frame_id, to_matrix(each.transform))
             for each in message.transforms}), 10)
    goal = {joint: 0.1 * k - 0.2 for k, joint in enumerate(ARM)} | {ARM[3]: -1.5, ARM[5]: 1.2}
    mock.move(TOPIC, trajectory(ARM, (0.5, [goal[joint] for joint in ARM])))
    mock.wait_for_rest()
    known.clear()
    mock.until(lambda: known, 'TF')
    judge, at = FileJudge(Robot.load('panda').urdf), positions(mock.states[-1])
    for link in ('panda_hand', 'panda_hand_tcp', 'panda_link4', 'panda_leftfinger'):
        T, frame = np.eye(4), link
        while frame != ROOT:
            frame, step = known[frame]
            T = step @ T
        np.testing.assert_allclose(T, judge.transform(at, link, ROOT), atol=1e-6)
    mock.node.destroy_subscription(subscription)


# -- faults and refused parameters ----------------------------------------------------------------

def shifted_goal(mock, shift):
    at = mock.wait_for_rest()
    return [at[ARM[0]] + shift, *(at[joint] for joint in ARM[1:])]


def test_released_arm_catches_up_at_its_velocity_limit(mock):
    goal = shifted_goal(mock, 0.3)
    start = positions(mock.states[-1])
    mock.set('blocked', True)
    for _ in range(5):   # a blocked arm does not show that a trajectory arrived
        mock.send(TOPIC, trajectory(ARM, (0.2, goal)), lambda: True, 'nothing')
        assert mock.wait_for_states(10) == start
    mock.wait_for_states(30)
    first = len(mock.states) - 1
    mock.set('blocked', False)
    mock.until(lambda: positions(mock.states[-1])[ARM[0]] == pytest.approx(goal[0]), 'the goal')
    speeds = [state.velocity[state.name.index(ARM[0])] for state in mock.states[first:]]
    assert max(map(abs, speeds)) == pytest.approx(2.175, rel=1e-6)     # of the URDF


def test_time_scale_slows_the_controllers(mock):
    """The path is the same; joint_states report the slower velocities."""
    goal = shifted_goal(mock, 0.3)
    mock.set('time_scale', 0.25)
    states = mock.move(TOPIC, trajectory(ARM, (0.5, goal)))
    mock.set('time_scale', 1.0)
    at = [positions(state)[ARM[0]] for state in states]
    assert at[-1] == pytest.approx(goal[0]) and at == sorted(at)
    moving = [state for state in states if any(state.velocity)]
    assert seconds(moving[-1], moving[0]) == pytest.approx(2.0, abs=0.1)
    fastest = max(velocities(state)[ARM[0]] for state in states)
    assert fastest == pytest.approx(0.3 / 2.0, rel=0.05)


@pytest.mark.parametrize(('name', 'value', 'reason'), [
    ('time_scale', 0.0, 'time_scale out of range Min: 0.01, Max: 1.0'),
    ('clock_offset', math.nan, 'clock_offset out of range'),
    ('active', ['arm_controler'], "no controller 'arm_controler'; valid: arm_controller, arm"),
    ('active', ['arm_controller', 'arm_position_controller'], "both command 'panda_joint1'"),
])
def test_malformed_parameters_are_refused(mock, name, value, reason):
    before = mock.get(name)
    result = mock.client.set(name, value, 'mock_robot')
    assert not result.successful and reason in result.reason
    assert mock.get(name) == before


# -- position commands, and the switching of controllers ------------------------------------------

COMMANDS = 'arm_position_controller/commands'


@pytest.fixture
def position_mock(mock):
    """Return the mock robot with its position controller active."""
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    yield mock
    mock.set('active', ['arm_controller', 'hand_controller'])


def command(*values):
    return Float64MultiArray(data=[float(value) for value in values])


def arm(state):
    return [positions(state)[joint] for joint in ARM]


def test_position_command_is_reached_in_one_step_and_logged_as_a_defect(position_mock):
    position_mock.move(COMMANDS, command(3.0, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7))
    position_mock.wait_for_log(
        'defect: panda_joint1 is at 3, outside its limits [-2.8973, 2.8973]', 0)
    position_mock.move(COMMANDS, command(0.0, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7))
    known = position_mock.text.count('defect: panda_joint1 moves at')
    states = position_mock.move(COMMANDS, command(0.3, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7))
    assert arm(states[1]) == pytest.approx([0.3, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7])
    assert velocities(states[1])[ARM[0]] == pytest.approx(
        0.3 / max(seconds(states[1], states[0]), 0.01))
    position_mock.wait_for_log('defect: panda_joint1 moves at', known)


@pytest.mark.parametrize('values', [[math.nan] + [0.0] * 6, [0.0] * 6 + [math.inf], [0.1] * 6])
def test_malformed_position_command_is_refused(position_mock, values):
    position_mock.assert_refused(COMMANDS, command(*values), 'are not 7 finite positions')


def test_inactive_controller_stops_its_motion_and_ignores_commands(mock):
    mock.assert_refused(COMMANDS, command(*[0.1] * 7), 'the controller is not active')
    start = arm(mock.states[-1])
    mock.send(TOPIC, trajectory(ARM, (20.0, [start[0] + 1.0, *start[1:]])),
              lambda: arm(mock.states[-1]) != start, 'motion')
    mock.set('active', ['arm_position_controller'])
    stopped = mock.wait_for_rest()
    mock.assert_refused(TOPIC, trajectory(ARM, (0.3, [0.1] * 7)), 'the controller is not active')
    mock.set('active', ['arm_controller', 'hand_controller'])
    assert mock.wait_for_states(20) == stopped


def test_joint_command_moves_joints_by_name(mock):
    start = positions(mock.states[-1])
    states = mock.move('joint_command', JointState(name=['panda_joint5', 'panda_joint1'],
                                                   position=[0.01, start['panda_joint1']]))
    assert positions(states[-1]) == pytest.approx(start | {'panda_joint5': 0.01})
    for names, reason in ((ARM, '1 positions for 7 names'), (['x'], "unknown joints: ['x']")):
        mock.assert_refused('joint_command', JointState(name=names, position=[0.0]), reason)


# -- docs/controllers.md --------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / 'docs' / 'controllers.md').read_text(encoding='utf-8')


def test_controllers_page_has_the_parameters_of_the_launch_file():
    written = yaml.safe_load(re.search(r'```yaml\n(.*?)```', PAGE, re.S)[1])
    given = written['/**']['ros__parameters']
    shipped = shipped_robots()['panda']
    parameters = node_parameters(shipped, Robot.load(shipped))
    assert set(given['controllers']) <= set(parameters['controllers'])
    for name in given['controllers']:
        for field, value in given[name].items():
            assert parameters[f'{name}.{field}'] == value


def test_controllers_page_lists_the_faults_and_the_controllers_of_the_robots():
    rows = dict(re.findall(r'^\| `(\w+)` \| (\S+) \| ', PAGE.partition('Faults')[2], re.M))
    assert {name: yaml.safe_load(text) for name, text in rows.items()} == {
        name: default for name, (default, *_) in FAULTS.items()}
    text = re.search(r'For example, panda has(.*?)\. Each', PAGE, re.S)[1]
    for name in ('panda', 'ur5', 'baxter'):
        shipped = shipped_robots()[name]
        for group in controlled_groups(shipped, Robot.load(shipped)):
            assert f'`{group}{TRAJECTORY}`' in text
