"""An arm that does not follow its commands is noticed while it should move; all is told."""

import re
import time

from arm_harness import execute, execute_later, FAST, HOME, TRAJECTORIES
from diagnostic_msgs.msg import DiagnosticArray
from node_harness import eventually
import pytest

from ros2_ik.msg import Status


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    return start_shared_node(**TRAJECTORIES, **FAST)


@pytest.fixture
def record(client, node, record, mock):
    """Give a record, with the arm at home."""
    mock.set('follow', True)
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home', 90)
    yield record
    mock.set('follow', True)


@pytest.fixture
def told(client):
    """Give what /diagnostics says of motions: texts and values, with times."""
    told = []

    def take(message):
        for status in message.status:
            if status.name.endswith(': motions'):
                told.append((time.monotonic(), status.message,
                             {pair.key: pair.value for pair in status.values}))
    subscription = client.node.create_subscription(DiagnosticArray, '/diagnostics', take, 10)
    yield told
    client.node.destroy_subscription(subscription)


def last_line(node):
    """Give the last line of the log about a motion."""
    return [line for line in node.text.splitlines() if 'motion by ' in line][-1]


@pytest.mark.slow
def test_a_motion_is_told_of(client, record, node, told):
    """While it is under way, and when it is over."""
    answer = execute(client, {'panda_joint1': 0.9}, group='arm', velocity_scaling=0.15)
    assert answer.status == Status.SUCCESS, answer.message
    moving = [values for _, text, values in told if text == '1 under way']
    assert moving
    for values in moving:
        assert values['asked for by'] == 'service execute' and values['group'] == 'arm'
        assert values['controllers'] == 'arm_controller' and values['state'] == 'moving'
        assert 0 <= float(values['fraction']) <= 1 and float(values['time left [s]']) < 4
        assert float(values['tracking error [rad, m]']) < 0.01
    eventually(lambda: told[-1][1] == 'nothing is moved', 'the end')
    line = last_line(node)
    assert "motion by service execute of group 'arm' with arm_controller: joint " in line
    assert "'panda_joint1' went 0.9" in line and 'SUCCESS: arrived after' in line
    assert sum('went 0.9' in text for text in node.text.splitlines()) == 1


def test_an_arm_that_is_stuck(client, record, mock, node, told):
    """It is stopped soon, with the joint and both values told."""
    future = execute_later(client, {'panda_joint1': 2.5}, velocity_scaling=0.5)
    eventually(lambda: record.at()[0] > 0.3, 'the arm moves')
    mock.set('follow', False)
    begin, sent = time.monotonic(), len(record.trajectories)
    eventually(lambda: len(record.trajectories) > sent, 'a trajectory that brakes')
    assert time.monotonic() - begin < 1.5   # after 0.2 rad and 0.3 s, at 1.1 rad/s
    answer = client.wait(future)
    assert answer.status == Status.CONTROL_FAILED, answer.message
    joint, at, commanded, far = re.search(
        r"joint '(\w+)' does not follow: it was at (\S+), commanded to be at (\S+), "
        r'and (\S+) from',
        answer.message).groups()
    assert joint == 'panda_joint1' and float(far) >= 0.2   # as rounded
    assert abs(float(at) - record.at()[0]) < 1e-3 and float(commanded) > float(at) + 0.2
    assert 'max_tracking_error allows 0.2' in answer.message
    assert 'CONTROL_FAILED: stopped on the way' in last_line(node)


@pytest.mark.slow
def test_a_bound_of_zero_is_none(client, record, mock):
    assert client.set('max_tracking_error', 0.0).successful
    assert client.set('arrival_timeout', 0.2).successful
    mock.set('follow', False)
    answer = execute(client, {'panda_joint1': 0.8})
    for name, value in (('max_tracking_error', 0.2), ('arrival_timeout', 2.0)):
        assert client.set(name, value).successful
    assert answer.status == Status.CONTROL_FAILED and 'did not arrive' in answer.message
