"""What becomes of a motion when the node, its servo, the controller or the robot goes."""

import signal

from arm_harness import (
    at_home,
    FAST,
    knows_the_robot,
    mock_robot,
    near,
    POSITIONS,
    TRAJECTORIES,
)
from motion_requests import FAR, moving, Requested, SLOW
from node_harness import Client
import numpy as np
import pytest

from ros2_ik.msg import Status


@pytest.fixture
def mock(client, tmp_path):
    """Give a panda that follows trajectories; it must end without a defect."""
    with mock_robot(client, tmp_path) as mock:
        yield mock
        assert 'defect' not in mock.text, mock.text


@pytest.fixture
def newcomer(client):
    """Give clients that know no killed node; what others send may go to that one, and be lost."""
    made = []

    def make():
        made.append(Client(client.domain))
        return made[-1]
    yield make
    for one in made:
        one.close()


def test_a_node_that_is_stopped_brakes_before_it_ends(newcomer, record, mock, start_node):
    """And answers then, also if that takes a second."""
    node = start_node(**TRAJECTORIES, **SLOW, **{
        'joint_limits.panda_joint1.max_acceleration': 0.5})
    asked = moving(at_home(newcomer()), record, 'compute_ik')
    assert node.end(signal.SIGTERM, 20.0) == 0
    since = len(record.states) - 1
    ended = asked.answer()
    assert ended.status == Status.PREEMPTED, ended.message
    assert 'stopped on the way: the node was stopped' in ended.message
    assert 0.03 < record.still()[0] < 1.9
    assert np.abs(np.diff(record.way(since)[1], axis=0)).max() < 0.05, mock.text


@pytest.mark.slow
def test_the_node_is_killed_on_the_way(newcomer, record, start_node):
    """The controller goes on with what it has; the next node sends nothing unless it is asked."""
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
def test_the_node_is_killed_while_it_streams_positions(newcomer, mock, record, start_node):
    """The arm stays where it was sent last, at once: nobody slows it down."""
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    node = start_node(**POSITIONS, **SLOW)
    moving(at_home(newcomer()), record, 'compute_ik')
    node.process.kill()
    node.process.wait(20)
    stopped = record.still()
    assert 0.03 < stopped[0] < FAR['panda_joint1'] - 0.5
    assert np.abs(stopped - record.commands[-1][1]).max() < 1e-3
