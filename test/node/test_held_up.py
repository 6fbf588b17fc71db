"""A stream of a node that is stopped for a while (SIGSTOP): it goes on gently, or ends."""

import signal
import time

from arm_harness import at_home, execute_later, FAST, POSITIONS
from node_harness import eventually
import numpy as np
import pytest

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow
LIMIT = 3.0   # default_max_acceleration [rad/s^2]


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    return start_shared_node(**POSITIONS, **FAST)


@pytest.mark.parametrize('seconds', [0.3, 0.6, 1.0, 2.0])
def test_a_node_that_is_held_up(client, node, mock, record, seconds):
    at_home(client)
    record.commands.clear()
    future = execute_later(client, {'panda_joint1': 2.5}, avoid_collisions=False)
    eventually(lambda: record.commands and record.commands[-1][1][0] > 0.5, 'the arm moves')
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    before = len(record.commands)
    time.sleep(seconds)
    node.process.send_signal(signal.SIGCONT)
    answer = client.wait(future, 60)
    assert answer.status in (Status.SUCCESS, Status.ROBOT_STATE_STALE), answer.message
    times = np.array([moment for moment, _ in record.commands[before - 1:]])
    way = np.array([command[0] for _, command in record.commands[before - 1:]])
    assert (np.diff(way) > -1e-9).all() and np.diff(way).max(initial=0.0) < 0.02 * 2.2
    # from rest on: never farther than the limit takes it, whenever the commands were sent
    since = np.maximum(times - times[:2][-1], 0.0) + 0.03
    assert (way - way[0] <= 1.05 * LIMIT * since**2 / 2 + 1e-4)[since < 0.6].all()
    assert 'defect' not in mock.text, mock.text
    assert np.abs(record.still()[0] - way[-1]) < 1e-3
