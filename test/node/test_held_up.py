"""A stream of a node that is stopped for a while (SIGSTOP): it goes on, or ends."""

import signal
import time

from arm_harness import at_home, execute_later, FAST, POSITIONS
from node_harness import eventually
import numpy as np
import pytest

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow


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
    before = len(record.commands)
    time.sleep(seconds)
    assert len(record.commands) > before + 10, 'the stream was held up with the node'
    node.process.send_signal(signal.SIGCONT)
    answer = client.wait(future, 60)
    assert answer.status in (Status.SUCCESS, Status.ROBOT_STATE_STALE), answer.message
    way = np.array([command[0] for _, command in record.commands])
    assert (np.diff(way) > -1e-9).all() and np.diff(way).max(initial=0.0) < 0.02 * 2.2
    assert 'defect' not in mock.text, mock.text
    assert np.abs(record.still()[0] - way[-1]) < 1e-3
