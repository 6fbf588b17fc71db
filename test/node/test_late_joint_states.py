"""
Stops while a relay delays and drops the joint_states that the node receives.

The undelayed joint_states of the mock robot are measured: accelerations and positions keep the
limits, no joint reverses, and the arm comes to rest at the end of its last command.
"""

from collections.abc import Iterator
import importlib.util
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any, NamedTuple

from arm_harness import ARM, execute_async, FAST, HOME, MockRobot, stop, wait_for_robot
from node_harness import Client, eventually
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from state_record import StateRecord
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Robot
from ros2_ik.msg import Status

MAX_ACCELERATION = 3.0    # default_max_acceleration of the node [rad/s^2]
MAX_RATIO = 1.05          # of the measured acceleration to MAX_ACCELERATION
MAX_REVERSAL = 1e-4       # motion of a joint against its direction [rad]
PERIOD = 0.01             # between two commands of a stream [s]
MAX_STEP = 0.02           # of the time of a stream, also after a longer pause [s]
SPAN = 0.2                # between two positions for a mean velocity of a stream [s]
MAX_END_ERROR = 2e-3      # distance from the end of the last command at rest [rad]
MIN_MOTION = 1e-3         # of a joint in at least one stop of each test [rad]
OTHERS = ['position', 'joint_state'] + ['follow_joint_trajectory'] * bool(
    importlib.util.find_spec('control_msgs.action'))
KINDS = ['joint_trajectory', *(pytest.param(kind, marks=pytest.mark.slow) for kind in OTHERS)]
ALLOWED_STATUSES = {
    Status.PREEMPTED, Status.SUCCESS, Status.ROBOT_STATE_STALE, Status.CONTROL_FAILED}
CONTROLLERS = {'joint_trajectory': 'arm_controller', 'position': 'arm_position_controller',
               'joint_state': 'simulator', 'follow_joint_trajectory': 'arm_controller'}


class Relay:

    def __init__(self, client: Client) -> None:
        self._client = client
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name('late_relay.py'))],
            env={**os.environ, 'ROS_DOMAIN_ID': str(client.domain)}, start_new_session=True)

    def set(self, **values: Any) -> None:
        for name, value in values.items():
            assert self._client.set(name, value, 'late_relay').successful


class SentCommands:
    """The commands sent to the controllers, with the times of sending."""

    def __init__(self, client: Client) -> None:
        self._node = client.node
        # time of sending and positions; for kind joint_state also velocities and stamp
        self.setpoints: list[tuple[float, list[float], list[float], float]] = []
        self.ends: list[list[float]] = []
        self._subscriptions = [
            client.node.create_subscription(
                Float64MultiArray, 'arm_position_controller/commands',
                lambda message, info: self.setpoints.append(
                    (info['source_timestamp'] * 1e-9, list(message.data), [], 0.0)),
                QoSProfile(depth=5000)),
            client.node.create_subscription(JointState, 'joint_command', self._receive,
                                            QoSProfile(depth=5000)),
            client.node.create_subscription(
                JointTrajectory, 'arm_controller/joint_trajectory',
                lambda message: self.ends.append(list(message.points[-1].positions)),
                QoSProfile(depth=100))]

    def _receive(self, message: JointState, info: Any) -> None:
        stamp = message.header.stamp
        self.setpoints.append((info['source_timestamp'] * 1e-9, list(message.position),
                              list(message.velocity), stamp.sec + 1e-9 * stamp.nanosec))

    def close(self) -> None:
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)


class Measurement(NamedTuple):
    """Measurements of one stop, each of the worst joint, and the status of its motion."""

    acceleration: float     # ratio to MAX_ACCELERATION
    excess: float           # beyond the position limits [rad]
    reversal: float         # against the direction of motion [rad]
    end_error: float        # distance from the end of the last command [rad]
    motion: float           # whole motion [rad]
    status: int


@pytest.fixture(scope='module', params=KINDS)
def kind(request: Any) -> str:
    return str(request.param)


@pytest.fixture(scope='module')
def arm(client: Client, mock: MockRobot, start_shared_node: Any, panda: Robot,
        kind: str) -> 'Iterator[LateArm]':
    """Return an arm whose joint_states reach the node through a relay."""
    name = CONTROLLERS[kind]
    mock.set('active', [name] if name != 'simulator' else ['hand_controller'])
    node = start_shared_node(
        (f'__node:={kind}_ik', 'joint_states:=late_joint_states'), controllers=[name],
        max_jump=0.0, **{f'{name}.kind': kind, f'{name}.group': 'arm'}, **FAST)
    arm = LateArm(client, panda, kind)
    yield arm
    arm.close()
    assert node.end() == 0


class LateArm:
    """Moves and stops the arm; measures the undelayed joint_states of the mock robot."""

    def __init__(self, client: Client, robot: Robot, kind: str) -> None:
        self._client, self._kind, self.node = client, kind, f'{kind}_ik'
        joints = [robot.joint(name) for name in ARM]
        self._lower = np.array([joint.lower for joint in joints])
        self._upper = np.array([joint.upper for joint in joints])
        self.random = np.random.default_rng(3)
        self.relay, self._sent = Relay(client), SentCommands(client)
        self._record = StateRecord(client.node, ARM)
        wait_for_robot(client, self.node)
        self.move_home()

    def close(self) -> None:
        self.relay.process.terminate()
        self.relay.process.wait(10)
        self._sent.close()
        self._record.close()

    def move_home(self) -> None:
        """Move home without delays and drops of the relay."""
        self.relay.set(delay=0.0, drop_rate=0.0)
        eventually(lambda: self._client.wait(self._execute(HOME), 60).status == Status.SUCCESS,
                   'the arm at home', 90)

    def _execute(self, joints: dict[str, float]) -> Any:
        return execute_async(self._client, joints, node=self.node, avoid_collisions=False)

    def _goal(self) -> dict[str, float]:
        """Return a random goal, often near the position limits."""
        values = self._lower + self.random.beta(0.4, 0.4, 7) * (self._upper - self._lower)
        return dict(zip(ARM, values.tolist(), strict=True))

    def stop(self) -> Measurement:
        """Move to a random goal, and stop after a random time; return the measurement."""
        since, sent = len(self._record) - 1, len(self._sent.setpoints)
        del self._sent.ends[:]
        future = self._execute(self._goal())
        start = self._record.motion(since).positions[0]
        eventually(lambda: future.done() or np.abs(
            self._record.motion(since).positions[-1] - start).max() > MIN_MOTION, 'the arm moves')
        time.sleep(self.random.uniform(0, 1.2))
        stop_index = len(self._record)
        reply = stop(self._client, self.node)
        # joint_states may be too old, or still those of the motion before a refused one
        assert reply.success or 'not known' in reply.message or (
            future.done() and 'moves at' in reply.message), reply
        answer = self._client.wait(future, 60)
        self._record.wait_for_rest(within=1e-9)
        motion = self._record.motion(since)
        return Measurement(
            self._acceleration(motion, sent), *self._deviations(motion, stop_index - since),
            self._end_error(motion, sent), float(np.ptp(motion.positions, axis=0).max()),
            answer.status)

    def _acceleration(self, motion: Any, since: int) -> float:
        """Return the largest acceleration, a lower bound by the mean value theorem, as a ratio."""
        sent = self._sent.setpoints[since:]     # a copy; the last command may be repeated
        if sent:
            times, positions, speeds, stamps = map(np.array, zip(*sent, strict=True))
            if self._kind == 'joint_state':
                return acceleration_from_speeds(times, stamps, positions, speeds)
            return acceleration_from_times(times, positions)
        distinct = np.concatenate([[True], np.diff(motion.times) > 0.002])
        return float(np.abs(np.diff(motion.velocities[distinct], axis=0)
                            / np.diff(motion.times[distinct])[:, None]).max() / MAX_ACCELERATION)

    def _deviations(self, motion: Any, stop_index: int) -> tuple[float, float]:
        """Return the largest excess over position limits, and reversal while braking [rad]."""
        excess = np.maximum(self._lower - motion.positions, motion.positions - self._upper).max()
        forward = np.sign(motion.positions[-1] - motion.positions[0])
        progress = motion.positions[stop_index - 5:] * forward
        return float(excess), float((np.maximum.accumulate(progress, axis=0) - progress).max())

    def _end_error(self, motion: Any, since: int) -> float:
        """Return the distance of the arm at rest from the end of its last command [rad]."""
        ends = ([data for _, data, *_ in self._sent.setpoints[since:]] if self._kind == 'position'
                or self._kind == 'joint_state' else self._sent.ends)
        return float(np.abs(motion.positions[-1] - ends[-1]).max()) if ends else 0.0


def acceleration_from_speeds(times: np.ndarray, stamps: np.ndarray, positions: np.ndarray,
                             speeds: np.ndarray) -> float:
    """
    Return the largest acceleration v dv/dx of commands (k, n), as a ratio; it needs no time steps.

    After a pause in computing or sending, joints may be slower, as they stopped. A pause in
    sending shows at the first command after it, or at the second if the first one was late.
    """
    late, held = np.diff(times) > 0.8 * MAX_STEP, np.diff(stamps) > 0.95 * MAX_STEP
    worst, paused = 0.0, late | np.concatenate([[False], late[:-1]]) | held
    for x, v in zip(positions.T, speeds.T, strict=True):
        distance, energy = np.abs(np.diff(x)), np.diff(v**2 / 2)
        energy = np.abs(np.where(paused & (energy < 0), 0.0, energy))
        moved = distance > 1e-5
        worst = max(worst, float((energy[moved] / distance[moved]).max(initial=0.0)))
    return worst / MAX_ACCELERATION


def acceleration_from_times(send_times: np.ndarray, positions: np.ndarray) -> float:
    """
    Return the largest second difference of commands (k, n) over SPAN, as a ratio.

    Differences that irregular send times can explain, as on a busy machine, are subtracted.
    """
    if len(send_times) < 3:
        return 0.0
    steps = np.diff(send_times)
    times = np.concatenate([[0.0], np.cumsum(np.minimum(steps, MAX_STEP))])
    worst = 0.0
    for k, time_k in enumerate(times):
        i, j = np.searchsorted(times, [time_k + SPAN, time_k + 2 * SPAN])
        if j >= len(times):
            break
        before = (positions[i] - positions[k]) / (times[i] - times[k])
        after = (positions[j] - positions[i]) / (times[j] - times[i])
        change = 2 * np.abs(after - before) / (times[j] - times[k])
        jitter = np.abs(steps[max(k - 1, 0):j] - PERIOD).max()
        error = 2 * jitter * np.maximum(np.abs(before), np.abs(after)) / SPAN**2
        worst = max(worst, float((change - error).max()))
    return worst / MAX_ACCELERATION


@pytest.mark.slow
@pytest.mark.parametrize('delay', [0.0, 0.1, 0.3, 0.6, 1.0])
def test_stop_with_late_joint_states_keeps_the_limits(arm, delay):
    """Stop the arm 20 times, while a fifth of the messages is dropped."""
    arm.move_home()
    arm.relay.set(delay=delay, drop_rate=0.2)
    measurements = [arm.stop() for _ in range(20)]
    worst = Measurement(*np.max(np.array(measurements), axis=0).tolist())
    print(f'{arm.node} delay {delay:g}: {worst}, moved '
          f'{sum(one.motion > MIN_MOTION for one in measurements)} of 20', file=sys.stderr)
    assert worst.acceleration < MAX_RATIO and worst.excess < 1e-6, measurements
    assert worst.reversal < MAX_REVERSAL and worst.end_error < MAX_END_ERROR, measurements
    assert {one.status for one in measurements} <= ALLOWED_STATUSES, measurements
    # with delays above execute_state_timeout only the first motion starts, with fresh states
    assert worst.motion > MIN_MOTION, measurements
