"""Motions of a robot in a simulation that is slower than real time, and paused for a while."""

from arm_harness import ARM, execute_later, FAST, HOME, knows_the_robot, TRAJECTORIES
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
    with pytest.raises(AssertionError, match='no answer'):
        client.wait(future, 4)
    assert simulation.at[0] < 1.0
    simulation.factor = 0.5
    answer = client.wait(future, 30)
    assert answer.status == Status.SUCCESS, answer.message
    assert abs(simulation.at[0] - 1.2) < 1e-3 and len(simulation.told) == 1
