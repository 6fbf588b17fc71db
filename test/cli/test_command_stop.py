"""`ros2_ik stop`, and Ctrl-C of `ros2_ik call --execute`, with a real node over DDS."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip('rclpy')
from ros2_ik.cli.node_client import NodeClient  # noqa: E402

pytestmark = pytest.mark.usefixtures('in_domain')

COMMAND = Path(__file__).parents[2] / 'scripts' / 'ros2_ik'
TIMEOUT = 60.0   # generous: the machine may be busy
SLOW = 0.02      # of the velocity limits: the way of a radian takes more than 20 s
AIM = 1.3        # where joint 1 has to go, one way or the other [rad]
JOINT = 'panda_joint1'

# offers compute_ik and an action and never answers; what it is told comes to nothing or is printed
DEAF = """
import sys, time
import rclpy
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from ros2_ik.action import SolveConstrainedIK
from ros2_ik.msg import Solution
from ros2_ik.srv import ComputeIK
from std_srvs.srv import Trigger
def ask(request, response):
    print('asked', flush=True)
    time.sleep(600)
rclpy.init()
node = rclpy.create_node('ros2_ik', namespace=sys.argv[1])
node.create_publisher(Solution, '~/solution', 10)
node.create_service(ComputeIK, '~/compute_ik', ask)
def tell(request, response):
    print('told', flush=True)
    response.success, response.message = True, 'heard'
    return response
if 'stop' in sys.argv:
    node.create_service(Trigger, '~/stop', ask)
if 'hear' in sys.argv:
    node.create_service(Trigger, '~/stop', tell, callback_group=ReentrantCallbackGroup())
action = ActionServer(node, SolveConstrainedIK, '~/solve_constrained_ik', lambda handle:
                      ask(None, None), callback_group=ReentrantCallbackGroup())
executor = MultiThreadedExecutor(3 if 'hear' in sys.argv else 1)
executor.add_node(node)
executor.spin()
"""


@pytest.fixture
def client(set_parameter):
    """Give a client of the node, which goes slowly."""
    with NodeClient('/ros2_ik') as client:
        set_parameter(client, 'velocity_scaling', SLOW)
        yield client


@pytest.fixture
def start():
    """Give a function that starts a process, which ends with the test."""
    running, killers = [], []

    def begin(*words):
        running.append(subprocess.Popen(
            [sys.executable, *(str(word) for word in words)], text=True, env=os.environ.copy(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        killers.append(threading.Timer(2 * TIMEOUT, running[-1].kill))
        killers[-1].start()
        return running[-1]
    yield begin
    for process, killer in zip(running, killers, strict=True):
        killer.cancel()
        process.kill()
        process.communicate()


@pytest.fixture
def moving(client, start):
    """Give `ros2_ik call`, the robot on its way, and where its joints are."""
    joints = client.joints
    assert client.spin_until(lambda: JOINT in joints, TIMEOUT)
    before = dict(joints)
    process = start(COMMAND, 'call', '--tip', 'panda_hand_tcp', '--xyz', 0.1, 0.45, 0.4,
                    '--execute', '--timeout', 1, '--seed', f'{JOINT}={AIM}', '--select', 'nearest',
                    '--max-joint-change', 6)
    assert client.spin_until(lambda: abs(joints[JOINT] - before[JOINT]) > 0.02, TIMEOUT), \
        process.poll()
    return process, joints, before


def stands(client, joints, before):
    """Check that the robot comes to rest, far from where it was to go."""
    def rests():
        then = joints[JOINT]
        client.spin_until(lambda: False, 0.5)
        return abs(joints[JOINT] - then) < 1e-4
    assert client.spin_until(rests, TIMEOUT)
    assert abs(joints[JOINT] - before[JOINT]) < 0.6


@pytest.mark.parametrize('number', [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupt_stops_the_robot(client, moving, number):
    process, joints, before = moving
    process.send_signal(number)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130 and out == '', out + err
    assert err == ('ros2_ik: interrupted: /ros2_ik was told to stop the robot: '
                   '1 motion is being stopped\n')
    stands(client, joints, before)


def test_stop(client, moving, process):
    call, joints, before = moving
    run = process('stop')
    assert (run.code, run.out, run.err) == (0, '1 motion is being stopped\n', '')
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 1 and out.startswith('PREEMPTED'), out + err
    stands(client, joints, before)
    assert process('stop').out == 'nothing was moving\n'


def test_nobody_to_stop(command):
    refused = command('stop', '--node', '/left/ros2_ik', '--wait', 0.3).refused()
    assert 'no service /left/ros2_ik/stop' in refused


@pytest.mark.parametrize(('offers', 'number', 'says'), [
    ('stop', signal.SIGINT,
     '/stop/ros2_ik was told to stop the robot, but did not answer within 2 s; it may still move'),
    pytest.param('none', signal.SIGHUP, 'the robot could not be told to stop: no service '
                 '/none/ros2_ik/stop within 2 s; it may still move', marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_node_that_does_not_stop(start, offers, number, says):
    deaf = start('-c', DEAF, f'/{offers}', offers)   # DDS remembers the names of those that died
    call = start(COMMAND, 'call', '--node', f'/{offers}/ros2_ik', '--xyz', 1, 2, 3, '--execute')
    assert deaf.stdout.readline() == 'asked\n'
    call.send_signal(number)
    time.sleep(0.3)
    call.send_signal(number)   # nobody ends it before it has said that
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 130 and out == '', out + err
    assert says in err and len(err.splitlines()) == 1, err


@pytest.mark.slow
def test_a_second_interrupt_takes_no_stop_back(start):
    node = start('-c', DEAF, '/held', 'hear')
    call = start(COMMAND, 'call', '--node', '/held/ros2_ik', '--xyz', 1, 2, 3, '--execute')
    assert node.stdout.readline() == 'asked\n'
    node.send_signal(signal.SIGSTOP)
    for _ in range(2):
        call.send_signal(signal.SIGINT)
        time.sleep(0.3)
    node.send_signal(signal.SIGCONT)
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 130 and out == '', out + err
    assert err == ('ros2_ik: interrupted: /held/ros2_ik was told to stop the robot: heard\n')
    assert node.stdout.readline() == 'told\n'


@pytest.mark.slow
@pytest.mark.parametrize('moves', [True, False])
def test_a_goal_of_a_node_that_was_killed(start, tmp_path, moves):
    name = f'killed{moves}'
    node = start('-c', DEAF, f'/{name}')
    goal = tmp_path / 'goal.yaml'
    goal.write_text(f'execute: {str(moves).lower()}\ntimeout: {{sec: 60}}\n')
    call = start(COMMAND, 'constrained', goal, '--node', f'/{name}/ros2_ik')
    assert node.stdout.readline() == 'asked\n'
    time.sleep(0.5)    # the goal was taken before, but the answer may be on its way
    node.kill()
    node.wait()
    began = time.monotonic()
    call.send_signal(signal.SIGINT)
    time.sleep(0.3)
    call.send_signal(signal.SIGINT)
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 130 and out == '', out + err
    assert f'/{name}/ros2_ik was told to cancel the goal, but did not answer within 2 s' in err
    assert ('it may still move' in err) == moves and len(err.splitlines()) == 1, err
    assert time.monotonic() - began < 10


@pytest.mark.slow
@pytest.mark.parametrize('held', [False, True])
def test_a_node_that_goes_in_mid_motion(start, tmp_path, held):
    name = f'gone{held}'
    node = start('-c', DEAF, f'/{name}', 'stop')
    goal = tmp_path / 'goal.yaml'
    goal.write_text('execute: true\ntimeout: {sec: 600}\n')
    words = (['constrained', goal] if held else ['call', '--xyz', 1, 2, 3, '--execute'])
    call = start(COMMAND, *words, '--node', f'/{name}/ros2_ik')
    assert node.stdout.readline() == 'asked\n'
    time.sleep(5)
    assert call.poll() is None    # busy is not gone
    node.send_signal(signal.SIGSTOP if held else signal.SIGKILL)
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 2 and out == '', out + err
    assert ('is gone, or was started again, and did not answer before; the robot was to move: it '
            'may still move') in err
    assert len(err.splitlines()) == 1, err


@pytest.mark.parametrize('words', [
    pytest.param(('constrained', 'goal.yaml'), marks=pytest.mark.slow),
    ('call', '--xyz', 1, 2, 3, '--execute')])
@pytest.mark.slow
def test_a_node_that_is_started_again_in_mid_motion(start, tmp_path, words):
    """Who takes the place of a killed node knows nothing of what that one was asked."""
    name = f'again{len(words)}'
    node = start('-c', DEAF, f'/{name}', 'stop')
    goal = tmp_path / 'goal.yaml'
    goal.write_text('execute: true\ntimeout: {sec: 600}\n')
    words = [goal if word == 'goal.yaml' else word for word in words]
    call = start(COMMAND, *words, '--node', f'/{name}/ros2_ik')
    assert node.stdout.readline() == 'asked\n'
    time.sleep(0.5)
    node.kill()
    start('-c', DEAF, f'/{name}', 'stop')
    began = time.monotonic()
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 2 and out == '', out + err
    assert 'was started again, and did not answer before; the robot was to move' in err
    assert time.monotonic() - began < 15


def test_an_interrupt_of_a_mere_question_stops_nothing(start):
    deaf = start('-c', DEAF, '/asked', 'stop')
    call = start(COMMAND, 'call', '--node', '/asked/ros2_ik', '--xyz', 1, 2, 3)
    assert deaf.stdout.readline() == 'asked\n'
    call.send_signal(signal.SIGINT)
    out, err = call.communicate(timeout=TIMEOUT)
    assert (call.returncode, out, err) == (130, '', '')
