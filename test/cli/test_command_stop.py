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

# takes goals and never answers
DEAF = """
import sys, time
import rclpy
from rclpy.action import ActionServer
from ros2_ik.action import SolveConstrainedIK
def execute(handle):
    print('asked', flush=True)
    time.sleep(600)
rclpy.init()
node = rclpy.create_node('ros2_ik', namespace=sys.argv[1])
action = ActionServer(node, SolveConstrainedIK, '~/solve_constrained_ik', execute)
rclpy.spin(node)
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
    assert process.returncode == 130 and err == '', out + err
    assert out.startswith('PREEMPTED: ') and 'cancelled' in out
    stands(client, joints, before)


def test_stop(client, moving, process):
    call, joints, before = moving
    run = process('stop')
    assert (run.code, run.out, run.err) == (0, '1 motion is being stopped\n', '')
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 1 and out.startswith('PREEMPTED'), out + err
    stands(client, joints, before)
    assert process('stop').out == 'nothing was moving\n'


@pytest.mark.slow
@pytest.mark.parametrize('moves', [True, False])
def test_a_node_that_does_not_answer_an_interrupt(start, moves):
    name = f'deaf{moves}'    # DDS remembers the names of those that died
    node = start('-c', DEAF, f'/{name}')
    call = start(COMMAND, 'call', '--node', f'/{name}/ros2_ik', '--xyz', 1, 2, 3,
                 *['--execute'] * moves)
    assert node.stdout.readline() == 'asked\n'
    time.sleep(0.5)    # the goal was taken before, but the answer may be on its way
    if moves:
        node.kill()
        node.wait()
    began = time.monotonic()
    call.send_signal(signal.SIGINT)
    time.sleep(0.3)
    call.send_signal(signal.SIGINT)    # does not shorten the wait: the cancel could get lost
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 130 and out == '', out + err
    assert f'/{name}/ros2_ik was asked to cancel the goal, but did not answer within 2 s' in err
    assert ('it may still move' in err) == moves and len(err.splitlines()) == 1, err
    assert 1.5 < time.monotonic() - began < 10


@pytest.mark.slow
def test_a_node_that_falls_silent(start):
    node = start('-c', DEAF, '/silent')
    call = start(COMMAND, 'call', '--node', '/silent/ros2_ik', '--xyz', 1, 2, 3, '--execute')
    assert node.stdout.readline() == 'asked\n'
    time.sleep(5)
    assert call.poll() is None    # busy is not gone
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 2 and out == '', out + err
    assert 'did not send the result within 20 s; the goal moves the robot: it may still' in err
    assert len(err.splitlines()) == 1, err
