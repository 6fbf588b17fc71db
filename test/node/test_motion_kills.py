"""What becomes of a motion when the node is killed."""

import os
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
from builtin_interfaces.msg import Duration
from motion_requests import FAR, moving, NEAR, Requested, SLOW
from node_harness import Client, eventually, unreachable
import numpy as np
import pytest
from servo_harness import processes

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow


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


def test_the_node_is_killed_while_the_arm_stands(newcomer, record, start_node):
    """The one who waits asks the next node; the arm does not move by that."""
    node = start_node(**TRAJECTORIES, **FAST)
    lost = at_home(newcomer()).ik_later(targets=[unreachable()], timeout=Duration(sec=9),
                                        execute=True)
    node.process.kill()
    node.process.wait(20)
    before = record.still()
    record.trajectories.clear()
    start_node(**TRAJECTORIES, **FAST)
    knows_the_robot(other := newcomer())
    assert not lost.done() and not record.trajectories
    assert np.abs(record.still() - before).max() < 1e-3
    answer = Requested(other, 'compute_ik', NEAR).answer()
    assert answer.status == Status.SUCCESS and near(record.still(), NEAR) < 1e-3


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


def test_the_process_that_streams_positions_is_killed(newcomer, mock, record, start_node):
    """The arm stays where it was sent last; the next motion is streamed by another process."""
    mock.set('active', ['arm_position_controller', 'hand_controller'])
    node = start_node(**POSITIONS, **SLOW)
    asked = moving(client := at_home(newcomer()), record, 'compute_ik')
    for process in processes('ik_servo', node.pid):
        os.kill(process, signal.SIGKILL)
    answer = asked.answer()
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert "the servo's process has died" in answer.message
    assert np.abs(record.still() - record.commands[-1][1]).max() < 1e-3
    eventually(lambda: Requested(client, 'execute', {}).answer().status == Status.SUCCESS,
               'a motion by another process', 60)
