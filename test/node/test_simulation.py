"""Motions of a robot in a simulation that is slower than real time, and paused for a while."""

import time

from arm_harness import ARM, execute_later, FAST, HOME, knows_the_robot, stop, TRAJECTORIES
from builtin_interfaces.msg import Time
from node_harness import eventually
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.msg import Status

pytestmark = pytest.mark.slow

PERIOD = 0.01   # of the steps, in real time [s]
FINGERS = ('panda_finger_joint1',)


class Simulation:
    """A panda and its trajectory controller, `factor` times as fast as real time."""

    def __init__(self, client):
        node = client.node
        self.factor, self.time, self.told = 0.5, 1000.0, []
        self.at, self._way = np.array([HOME[joint] for joint in ARM]), None
        self._clock = node.create_publisher(Clock, '/clock', 10)
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        node.create_subscription(JointTrajectory, 'arm_controller/joint_trajectory',
                                 self._take, 10)
        node.create_timer(PERIOD, self._step)

    def _take(self, message):
        times = [p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in message.points]
        places = np.array([p.positions for p in message.points])
        self._way = (self.time, [0.0, *times], np.vstack([self.at, places]))
        self.told.append(message)

    def set_back(self, seconds):
        """Set the clock; the robot goes on."""
        begun, times, places = self._way
        self._way = begun - seconds, times, places
        self.time -= seconds

    def _step(self):
        self.time += PERIOD * self.factor
        if self._way:
            begun, times, places = self._way
            self.at = np.array([np.interp(self.time - begun, times, one) for one in places.T])
        stamp = Time(sec=int(self.time), nanosec=int(self.time % 1 * 1e9))
        self._clock.publish(Clock(clock=stamp))
        if self.factor:   # paused, it tells nothing of its robot
            message = JointState(name=[*ARM, *FINGERS], position=[*self.at.tolist(), 0.02])
            message.header.stamp = stamp
            self._states.publish(message)


@pytest.fixture(scope='module')
def node(start_shared_node):
    return start_shared_node(**TRAJECTORIES, **FAST, use_sim_time=True)


@pytest.fixture(scope='module')
def simulation(client, panda, node):
    simulation = Simulation(client)
    client.describe(panda)
    knows_the_robot(client)
    return simulation


def test_a_pause_only_makes_it_late(client, simulation):
    future = execute_later(client, {'panda_joint1': 1.2})
    eventually(lambda: simulation.at[0] > 0.2, 'a motion')
    simulation.factor = 0.0
    time.sleep(4)
    assert not future.done() and simulation.at[0] < 1.0
    simulation.factor = 0.5
    answer = client.wait(future, 30)
    assert answer.status == Status.SUCCESS, answer.message
    assert abs(simulation.at[0] - 1.2) < 1e-3 and len(simulation.told) == 1


def test_a_stop_is_sent_once_and_answered_at_rest(client, simulation):
    start, before = simulation.at[0], len(simulation.told)
    future = execute_later(client, {'panda_joint1': -1.2})
    eventually(lambda: abs(simulation.at[0] - start) > 0.4, 'a motion')
    assert stop(client).success
    answer = client.wait(future, 30)
    at = simulation.at.copy()
    assert answer.status == Status.PREEMPTED and 'but' not in answer.message, answer.message
    time.sleep(0.5)
    assert np.abs(simulation.at - at).max() < 1e-3
    assert len(simulation.told) == before + 2


@pytest.mark.parametrize('back', [0.5, 500.0])
def test_a_clock_that_is_set_back_stops_a_motion(client, simulation, back):
    """The arm goes on, and is braked; the next motion begins when the clock has settled."""
    start, before = simulation.at[0], len(simulation.told)
    goal = start + 1.2
    future = execute_later(client, {'panda_joint1': goal})
    eventually(lambda: simulation.at[0] > start + 0.2, 'a motion')
    simulation.set_back(back)
    answer = client.wait(future, 30)
    assert answer.status == Status.ROBOT_STATE_STALE, answer.message
    assert 'stopped on the way' in answer.message
    assert len(simulation.told) == before + 2
    time.sleep(4)
    assert start + 0.2 < simulation.at[0] < goal - 0.1
    eventually(lambda: client.wait(execute_later(client, {'panda_joint1': start}), 30).status
               == Status.SUCCESS, 'a motion by a clock that goes on')
    assert abs(simulation.at[0] - start) < 1e-3
