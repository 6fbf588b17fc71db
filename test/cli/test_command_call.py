"""`ros2_ik call`, `constrained` and `stop` with a real node over DDS; yourdfpy is the judge."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')
from ros2_ik.cli.node_client import NodeClient  # noqa: E402
from ros2_ik.demo.domain import unused_domain  # noqa: E402

pytestmark = pytest.mark.usefixtures('in_domain')

ROOT = Path(__file__).parents[2]
COMMAND = ROOT / 'scripts' / 'ros2_ik'
LINK0, TCP = 'panda_link0', 'panda_hand_tcp'
RETREAT = [0, 0, -0.04]   # target behind the tool, in its own frame [m]
TIMEOUT = 60.0            # long enough for a busy machine [s]
SLOW_SCALING = 0.02       # velocity scaling: a radian takes more than 20 s
JOINT_SEED = 1.3          # seed of JOINT, beyond where the tests stop the motion [rad]
JOINT = 'panda_joint1'

# a node that accepts goals and never replies
SILENT_NODE = """
import time
import rclpy
from rclpy.action import ActionServer
from ros2_ik.action import SolveConstrainedIK
def execute(handle):
    print('asked', flush=True)
    time.sleep(600)
rclpy.init()
node = rclpy.create_node('ros2_ik', namespace='silent')
action = ActionServer(node, SolveConstrainedIK, '~/solve_constrained_ik', execute)
rclpy.spin(node)
"""


@pytest.fixture
def call(command):
    return lambda *arguments: command('call', *arguments)


@pytest.fixture
def constrained(command):
    return lambda *arguments: command('constrained', *arguments)


@pytest.fixture
def problem(tmp_path):
    """Return a function that writes a problem: hand above a height [m], elbow bent."""
    def write(height, seconds, **fields):
        path = tmp_path / 'problem.yaml'
        path.write_text(yaml.safe_dump({'constraints': [{
            'kind': 'point_to_plane', 'frame': 'panda_hand', 'normal': [0, 0, 1],
            'bounds': {'name': 'high', 'lower': [height]}, **fields}, {
            'kind': 'joint_positions', 'names': ['panda_joint4'],
            'bounds': {'name': 'folded', 'upper': [-2.5]}}],
            'timeout': {'sec': seconds}}))
        return path
    return write


def test_call_returns_joint_values_that_reach_the_pose(call, judge):
    run = call('--tip', TCP, '--xyz', 0.4, 0.1, 0.5, '--rpy', 180, 0, 0, '--deg', '--json')
    assert run.code == 0, run.err
    T = judge('panda', run.json['joints'], TCP, LINK0)
    assert np.linalg.norm(T[:3, 3] - [0.4, 0.1, 0.5]) < 2e-5
    assert T[:3, :3] == pytest.approx(np.diag([1, -1, -1]), abs=2e-4)
    assert run.json['targets'][0]['position_error'] < 2e-5
    assert run.json['round_trip'] >= run.json['seconds'] > 0
    assert 'panda_link8' in ''.join(run.json['not_checked'])


def test_target_relative_to_the_tip_is_evaluated_at_the_seed(call, judge):
    seed = {'panda_joint2': -0.3, 'panda_joint4': -1.9, 'panda_joint6': 1.8}
    run = call('--tip', TCP, '--xyz', 0, 0, 0.1, '--rpy', 0, 0, 0, '--relative-to', TCP, '--json',
               '--seed', *(f'{name}={value}' for name, value in seed.items()))
    assert run.code == 0, run.err
    home = {'panda_joint7': 0.785398}
    before = judge('panda', home | seed, TCP, LINK0)
    after = judge('panda', run.json['joints'], TCP, LINK0)
    assert np.linalg.norm(after[:3, 3] - (before @ [0, 0, 0.1, 1])[:3]) < 2e-5
    assert run.json['targets'][0]['position_error'] < 2e-5


def test_call_with_srdf_state_as_seed_uses_the_default_tip(call):
    run = call('--xyz', 0, 0, 0, '--relative-to', TCP, '--json',
               '--seed', 'default', 'panda_joint2=0.3')
    assert run.code == 0 and f'{TCP} is the default tip' in run.json['message'], run.err
    assert [*run.json['joints'].values()] == pytest.approx(
        [0, 0.3, 0, -2.35619, 0, 1.5707, 0.785398], abs=1e-6)


@pytest.mark.parametrize('arguments, hint', [
    (['--tip', 'panda_hand_tpc', '--xyz', 1, 2, 3], "'panda_hand_tcp'"),
    (['--tip', TCP, '--xyz', 'nan', 2, 3], 'INVALID'),
    (['--tip', TCP, '--xyz', 1, 2, 3, '--seed', 'joint=1'], "unknown joint 'joint'"),
    (['--xyz', 1, 2, 3, '--execute', '--max-joint-change', 30], 'for degrees add --deg')])
def test_malformed_calls_are_refused_in_one_line(call, arguments, hint):
    assert hint in call(*arguments).refusal()


def test_call_without_a_node_is_refused_listing_the_nodes_seen(call, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(unused_domain()))
    text = call('--xyz', 1, 2, 3, '--wait', 0.5).refusal()
    assert 'nodes seen' in text and 'none' in text


def test_infeasible_problem_shows_feedback_and_the_best_attempt(constrained, problem):
    run = constrained(problem(1.1, 1))
    assert run.code == 1, run.err
    assert 'VIOLATED by' in run.out and 'best attempt' in run.out
    assert any('s, searching, ' in line for line in run.err.splitlines())


def test_malformed_constraint_is_refused_with_its_index(constrained, problem):
    reason = constrained(problem(1.1, 1, relative_to='nowhere')).refusal()
    assert 'INVALID_LINK_NAME: constraints[0] (point_to_plane): relative_to: unknown' in reason


def test_interrupt_cancels_the_search_and_shows_the_best_attempt(start, problem):
    running = start(COMMAND, 'constrained', problem(1.1, 10))
    assert any('s, searching, ' in line for line in running.stderr)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate()
    assert running.returncode == 130 and out.startswith('PREEMPTED'), out
    assert 'best attempt' in out and 'VIOLATED by' in out


# -- motions ---------------------------------------------------------------------------------

@pytest.fixture
def max_jump(set_parameter):
    """Set max_jump so low that the node refuses every solution that moves the robot."""
    with NodeClient('/ros2_ik') as client:
        set_parameter(client, 'max_jump', 1e-3)
    yield
    with NodeClient('/ros2_ik') as client:
        set_parameter(client, 'max_jump', 1.0)


@pytest.fixture
def client(set_parameter):
    """Return a client of the node; slow its motions down for the test."""
    with NodeClient('/ros2_ik') as client:
        set_parameter(client, 'velocity_scaling', SLOW_SCALING)
        yield client
        set_parameter(client, 'velocity_scaling', 0.1)


@pytest.fixture
def start():
    """Return a function that starts a Python process, killed after the test."""
    processes, timers = [], []

    def launch(*arguments):
        processes.append(subprocess.Popen(
            [sys.executable, *map(str, arguments)], text=True, env=os.environ.copy(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        timers.append(threading.Timer(2 * TIMEOUT, processes[-1].kill))
        timers[-1].start()
        return processes[-1]
    yield launch
    for process, timer in zip(processes, timers, strict=True):
        timer.cancel()
        process.kill()
        process.communicate()


@pytest.fixture
def moving_call(client, start):
    """Return the process of a moving `ros2_ik call`, the live joint values and the start."""
    joints = client.joints
    assert client.spin_until(lambda: JOINT in joints, TIMEOUT)
    before = dict(joints)
    process = start(COMMAND, 'call', '--tip', TCP, '--xyz', 0.1, 0.45, 0.4,
                    '--execute', '--timeout', 1, '--seed', f'{JOINT}={JOINT_SEED}', '--select',
                    'nearest', '--max-joint-change', 6)
    assert client.spin_until(lambda: abs(joints[JOINT] - before[JOINT]) > 0.02, TIMEOUT), \
        process.poll()
    return process, joints, before


def assert_stopped(client, joints, before):
    """Assert that the robot comes to rest before its goal."""
    def is_at_rest():
        previous = joints[JOINT]
        client.spin_until(lambda: False, 0.5)
        return abs(joints[JOINT] - previous) < 1e-4
    assert client.spin_until(is_at_rest, TIMEOUT)
    assert abs(joints[JOINT] - before[JOINT]) < 0.6


def test_retreat_beyond_max_jump_is_refused(command, max_jump, tmp_path):
    file = tmp_path / 'back.yaml'
    file.write_text(yaml.safe_dump({
        'targets': [{'tip': TCP, 'xyz': RETREAT, 'quat': [0, 0, 0, 1], 'relative_to': TCP}],
        'execute': True, 'timeout': {'sec': 1}}))
    call = ('call', '--tip', TCP, '--xyz', *RETREAT, '--quat', 0, 0, 0, 1, '--relative-to', TCP,
            '--execute', '--timeout', 1)
    for arguments, option in ((call, '--max-joint-change'),
                              (('constrained', file), 'max_joint_change')):
        run = command(*arguments)
        assert run.code == 1 and run.out.startswith('NO_IK_SOLUTION: '), run.out + run.err
        assert f'no solution within {option} 0.001' in run.out
        assert f'a larger {option} may allow one' in run.out and 'parameter max_jump' in run.out


def test_interrupt_stops_the_robot(client, moving_call):
    process, joints, before = moving_call
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130 and err == '', out + err
    assert out.startswith('PREEMPTED: ') and 'cancelled' in out
    assert_stopped(client, joints, before)


def test_stop_command_stops_the_robot(client, moving_call, child_command):
    call, joints, before = moving_call
    run = child_command('stop')
    assert (run.code, run.out, run.err) == (0, '1 motion is being stopped\n', '')
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 1 and out.startswith('PREEMPTED'), out + err
    assert_stopped(client, joints, before)
    assert child_command('stop').out == 'nothing was moving\n'


def test_interrupt_without_reply_of_the_node_warns_that_the_robot_may_move(start):
    node = start('-c', SILENT_NODE)
    call = start(COMMAND, 'call', '--node', '/silent/ros2_ik', '--xyz', 1, 2, 3, '--execute')
    assert node.stdout.readline() == 'asked\n'
    node.kill()
    node.wait()
    call.send_signal(signal.SIGINT)
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 130 and out == '', out + err
    assert '/silent/ros2_ik was asked to cancel the goal, but did not answer within 2 s' in err
    assert 'it may still' in err and len(err.splitlines()) == 1, err
