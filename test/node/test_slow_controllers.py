"""Stops while the controller's time is slow or stands, as with a simulation or a speed slider."""

import time

from arm_harness import ARM, execute, execute_later, FAST, HOME, stop, TRAJECTORIES
from motion_judge import MotionJudge, StateRecord
from node_harness import eventually
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.msg import Status

LIMIT = 3.0      # default_max_acceleration [rad/s^2]
PAUSED = 1e-4    # the slowest scale of time here: as good as standing
MEANWHILE = 0.03 * LIMIT   # so much faster the arm becomes before the stop has been heard,
BACK = 2e-3      # and goes on by more than it comes back to, when it has hardly begun [rad]
AWAY = {'panda_joint1': 2.5, 'panda_joint4': -1.0}


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Give a node that allows for any delay, so that nothing but the stop ends a motion."""
    return start_shared_node(**TRAJECTORIES, **FAST, max_tracking_error=0.0)


@pytest.fixture
def states(client, node, mock):
    """Give a record of the arm, which stands at home."""
    mock.set('time_scale', 1.0)
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home', 90)
    states = StateRecord(client.node, ARM)
    eventually(lambda: len(states), 'joint_states')
    yield states
    states.close()
    mock.set('time_scale', 1.0)


@pytest.fixture
def told(client, states):
    """Give how many states had come when each trajectory came."""
    told = []
    subscription = client.node.create_subscription(
        JointTrajectory, 'arm_controller/joint_trajectory',
        lambda _: told.append(len(states)), QoSProfile(depth=100))
    yield told
    client.node.destroy_subscription(subscription)


def stopped(client, mock, states, told, panda, scales):
    """
    Move with scales of time, each with the seconds that it lasts, and then stop.

    Gives the largest speed before and after the stop, and the answer; accelerations are judged.
    """
    mock.set('time_scale', scales[0][0])
    since = len(states) - 1
    future = execute_later(client, AWAY, avoid_collisions=False)
    eventually(lambda: np.ptp(states.way(since).positions, axis=0).max() > 1e-4, 'a motion')
    for scale, seconds in scales:
        mock.set('time_scale', scale)
        time.sleep(seconds)
    count = len(told)
    assert stop(client).success
    eventually(lambda: len(told) > count, 'a trajectory that brakes')
    before = told[count]
    time.sleep(0.3)
    if scales[-1][0] == PAUSED:
        mock.set('time_scale', 1.0)
        before = len(states) + 3
    outcome = client.wait(future, 60)
    eventually(lambda: np.ptp(states.way(len(states) - 20).positions, axis=0).max() < 1e-9,
               'the arm stands', 60)
    way = states.way(before - 3)
    judge = MotionJudge(panda, ARM, LIMIT)
    worst = judge.extremes(way)
    assert worst.accelerations < 1.05 and worst.steps < 1.02 and worst.beyond < 1e-6, worst
    if scales[-1][0] != PAUSED:   # who was at rest is told to come back to where that was
        forward = np.sign(way.positions[-1] - way.positions[0])
        gone = way.positions * forward
        assert (np.maximum.accumulate(gone, axis=0) - gone).max() < BACK
    return np.abs(states.way(since).velocities[:before - since]).max(), np.abs(
        way.velocities).max(), outcome


@pytest.mark.slow
def test_a_stop_at_half_speed(client, mock, states, told, panda):
    """A short while later the arm is not faster, and it stands before its goal."""
    before, after, outcome = stopped(client, mock, states, told, panda, [(0.5, 1.0)])
    assert outcome.status == Status.PREEMPTED, outcome.message
    assert after < before + MEANWHILE
    assert states.way().positions[-1][0] < 2.0


@pytest.mark.slow
@pytest.mark.parametrize('scale', [0.1, 0.25, 0.5, 0.8])
@pytest.mark.parametrize('seconds', [0.05, 0.3, 0.7, 1.1])
def test_stops_while_time_is_slow(client, mock, states, told, panda, scale, seconds):
    """Who has hardly begun may be on its way at full speed: it brakes as if that were so."""
    before, after, outcome = stopped(client, mock, states, told, panda, [(scale, seconds)])
    assert outcome.status == Status.PREEMPTED
    assert after < before + MEANWHILE * (2 if seconds < 0.1 else 1)


@pytest.mark.slow
@pytest.mark.parametrize('scales', [
    [(1.0, 0.4), (0.3, 0.5)], [(1.0, 0.3), (0.1, 0.3), (1.0, 0.3)], [(0.2, 0.5), (1.0, 0.4)],
    [(1.0, 0.4), (PAUSED, 0.1)], [(1.0, 0.5), (PAUSED, 1.0)]])
def test_stops_when_the_speed_of_time_changes(client, mock, states, told, panda, scales):
    """Accelerations are those of the arm, so that the change itself is not looked at."""
    *_, outcome = stopped(client, mock, states, told, panda, scales)
    assert outcome.status == Status.PREEMPTED
