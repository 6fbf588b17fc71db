"""`ros2_ik stop`, and Ctrl-C of `ros2_ik call --execute`, with a real node over DDS."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import threading

import pytest

pytest.importorskip('rclpy')
from ros2_ik.cli.node_client import NodeClient  # noqa: E402

pytestmark = pytest.mark.usefixtures('in_domain')

COMMAND = Path(__file__).parents[2] / 'scripts' / 'ros2_ik'
TIMEOUT = 60.0   # generous: the machine may be busy
SLOW = 0.02      # of the velocity limits: the way of a radian takes more than 20 s
AIM = 1.3        # where joint 1 has to go, one way or the other [rad]
JOINT = 'panda_joint1'

# offers compute_ik and never answers; what it is told comes to nothing
DEAF = """
import sys, time
import rclpy
from ros2_ik.srv import ComputeIK
from std_srvs.srv import Trigger
def ask(request, response):
    print('asked', flush=True)
    time.sleep(600)
rclpy.init()
node = rclpy.create_node('ros2_ik', namespace=sys.argv[1])
node.create_service(ComputeIK, '~/compute_ik', ask)
if 'stop' in sys.argv:
    node.create_service(Trigger, '~/stop', ask)
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
    joints = client.joints(live=True)
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


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
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


@pytest.mark.parametrize(('offers', 'says'), [
    ('stop', '/stop/ros2_ik was told to stop the robot, but did not answer within 2 s; it may'),
    ('none', 'could not be told to stop: no service /none/ros2_ik/stop within 2 s; it may still')])
def test_a_node_that_does_not_stop(start, offers, says):
    deaf = start('-c', DEAF, f'/{offers}', offers)   # DDS remembers the names of those that died
    call = start(COMMAND, 'call', '--node', f'/{offers}/ros2_ik', '--xyz', 1, 2, 3, '--execute')
    assert deaf.stdout.readline() == 'asked\n'
    call.send_signal(signal.SIGINT)
    out, err = call.communicate(timeout=TIMEOUT)
    assert call.returncode == 130 and out == '', out + err
    assert says in err and len(err.splitlines()) == 1, err


def test_an_interrupt_of_a_mere_question_stops_nothing(start):
    deaf = start('-c', DEAF, '/asked', 'stop')
    call = start(COMMAND, 'call', '--node', '/asked/ros2_ik', '--xyz', 1, 2, 3)
    assert deaf.stdout.readline() == 'asked\n'
    call.send_signal(signal.SIGINT)
    out, err = call.communicate(timeout=TIMEOUT)
    assert (call.returncode, out, err) == (130, '', '')
