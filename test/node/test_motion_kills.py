"""Motions when the node is terminated or killed."""

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
    """Return a mock Panda that follows trajectories; it must report no defect."""
    with mock_robot(client, tmp_path) as mock:
        yield mock
        assert 'defect' not in mock.text, mock.text


@pytest.fixture
def newcomer(client):
    """Return a function that makes clients which have not discovered a killed node."""
    made = []

    def make():
        made.append(Client(client.domain))
        return made[-1]
    yield make
    for one in made:
        one.close()


def test_terminated_node_brakes_before_it_ends(newcomer, record, mock, start_node):
    """It also responds, even if braking takes a second."""
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
def test_motion_of_a_killed_node_ends_and_the_next_node_is_idle(newcomer, record, start_node):
    """The controller finishes its trajectory; the next node sends nothing until it is asked."""
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
def test_position_stream_of_a_killed_node_ends_at_its_last_command(
        newcomer, mock, record, start_node):
    """Without a braking ramp; see docs/safety.md."""
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    node = start_node(**POSITIONS, **SLOW)
    moving(at_home(newcomer()), record, 'compute_ik')
    node.process.kill()
    node.process.wait(20)
    stopped = record.still()
    assert 0.03 < stopped[0] < FAR['panda_joint1'] - 0.5
    assert np.abs(stopped - record.commands[-1][1]).max() < 1e-3
