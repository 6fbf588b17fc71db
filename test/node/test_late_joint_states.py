"""
Stops while a relay delays and drops the joint_states that the node receives.

The joint_states of the mock robot itself, which are not delayed, are judged: accelerations and
position limits hold, no joint moves back, and the arm comes to rest where its last command ends.
"""

from collections.abc import Iterator
import importlib.util
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any, NamedTuple

from arm_harness import ARM, execute_later, FAST, HOME, knows_the_robot, MockRobot, stop
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

LIMIT = 3.0        # default_max_acceleration of the node [rad/s^2]
MOST = 1.05        # largest measured acceleration, as a part of LIMIT
BACK = 1e-4        # largest motion of a joint against its direction [rad]
PERIOD = 0.01      # between two commands of a stream [s]
PAUSE = 0.02       # largest step in time of a stream, also after a longer pause [s]
SPAN = 0.2         # time between two positions that give a velocity of a stream [s]
TOLD = 2e-3        # largest distance from the end of the last command at rest [rad]
MOVED = 1e-3       # a joint moves by more in at least one stop of each test [rad]
OTHERS = ['position', 'joint_state'] + ['follow_joint_trajectory'] * bool(
    importlib.util.find_spec('control_msgs.action'))
KINDS = ['joint_trajectory', *(pytest.param(kind, marks=pytest.mark.slow) for kind in OTHERS)]
ALLOWED = {Status.PREEMPTED, Status.SUCCESS, Status.ROBOT_STATE_STALE, Status.CONTROL_FAILED}
NAMES = {'joint_trajectory': 'arm_controller', 'position': 'arm_position_controller',
         'joint_state': 'simulator',
         'follow_joint_trajectory': 'arm_controller'}


class Relay:
    """The process that delays and drops joint_states."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name('late_relay.py'))],
            env={**os.environ, 'ROS_DOMAIN_ID': str(client.domain)}, start_new_session=True)

    def set(self, **values: Any) -> None:
        for name, value in values.items():
            assert self._client.set(name, value, 'late_relay').successful


class Told:
    """The commands that the controllers were sent, with the times of sending."""

    def __init__(self, client: Client) -> None:
        self._node = client.node
        # time of sending, positions and, for joint_state, velocities and the header's stamp
        self.streamed: list[tuple[float, list[float], list[float], float]] = []
        self.ends: list[list[float]] = []
        self._subscriptions = [
            client.node.create_subscription(
                Float64MultiArray, 'arm_position_controller/commands',
                lambda message, info: self.streamed.append(
                    (info['source_timestamp'] * 1e-9, list(message.data), [], 0.0)),
                QoSProfile(depth=5000)),
            client.node.create_subscription(JointState, 'joint_command', self._take,
                                            QoSProfile(depth=5000)),
            client.node.create_subscription(
                JointTrajectory, 'arm_controller/joint_trajectory',
                lambda message: self.ends.append(list(message.points[-1].positions)),
                QoSProfile(depth=100))]

    def _take(self, message: JointState, info: Any) -> None:
        stamp = message.header.stamp
        self.streamed.append((info['source_timestamp'] * 1e-9, list(message.position),
                              list(message.velocity), stamp.sec + 1e-9 * stamp.nanosec))

    def close(self) -> None:
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)


class Seen(NamedTuple):
    """
    Measurements of one stop, each of the worst joint, and the status of its motion.

    `acceleration` is a part of LIMIT; `beyond` the position limits, `back`, `off` the end of the
    last command and `moved` in all are in rad.
    """

    acceleration: float
    beyond: float
    back: float
    off: float
    moved: float
    status: int


@pytest.fixture(scope='module', params=KINDS)
def kind(request: Any) -> str:
    return str(request.param)


@pytest.fixture(scope='module')
def arm(client: Client, mock: MockRobot, start_shared_node: Any, panda: Robot,
        kind: str) -> 'Iterator[LateArm]':
    """Return an arm whose joint_states reach the node through a relay."""
    name = NAMES[kind]
    mock.set('active', [name] if name != 'simulator' else ['hand_controller'])
    node = start_shared_node(
        (f'__node:={kind}_ik', 'joint_states:=late_joint_states'), controllers=[name],
        max_jump=0.0, **{f'{name}.kind': kind, f'{name}.group': 'arm'}, **FAST)
    arm = LateArm(client, panda, kind)
    yield arm
    arm.close()
    assert node.end() == 0


class LateArm:
    """Moves and stops the arm, and measures by the joint_states of the mock robot itself."""

    def __init__(self, client: Client, robot: Robot, kind: str) -> None:
        self._client, self._kind, self.node = client, kind, f'{kind}_ik'
        joints = [robot.joint(name) for name in ARM]
        self._lower = np.array([joint.lower for joint in joints])
        self._upper = np.array([joint.upper for joint in joints])
        self.random = np.random.default_rng(3)
        self.relay, self._told = Relay(client), Told(client)
        self._record = StateRecord(client.node, ARM)
        knows_the_robot(client, self.node)
        self.answered()

    def close(self) -> None:
        self.relay.process.terminate()
        self.relay.process.wait(10)
        self._told.close()
        self._record.close()

    def answered(self) -> None:
        """Move home without delays and losses of the relay."""
        self.relay.set(delay=0.0, lost=0.0)
        eventually(lambda: self._client.wait(self._later(HOME), 60).status == Status.SUCCESS,
                   'the arm at home', 90)

    def _later(self, joints: dict[str, float]) -> Any:
        return execute_later(self._client, joints, node=self.node, avoid_collisions=False)

    def _goal(self) -> dict[str, float]:
        """Return a random goal that is far away and often near a limit."""
        values = self._lower + self.random.beta(0.4, 0.4, 7) * (self._upper - self._lower)
        return dict(zip(ARM, values.tolist(), strict=True))

    def stop(self) -> Seen:
        """Move somewhere, and stop after a random time."""
        since, told = len(self._record) - 1, len(self._told.streamed)
        del self._told.ends[:]
        future = self._later(self._goal())
        start = self._record.way(since).positions[0]
        eventually(lambda: future.done() or np.abs(
            self._record.way(since).positions[-1] - start).max() > MOVED, 'the arm moves')
        time.sleep(self.random.uniform(0, 1.2))
        braked = len(self._record)
        stopped = stop(self._client, self.node)
        # the readings may be too old, or still show the motion before one that was refused
        assert stopped.success or 'not known' in stopped.message or (
            future.done() and 'moves at' in stopped.message), stopped
        answer = self._client.wait(future, 60)
        self._record.still(within=1e-9)
        way = self._record.way(since)
        return Seen(self._acceleration(way, told), *self._ways(way, braked - since),
                    self._off(way, told), float(np.ptp(way.positions, axis=0).max()),
                    answer.status)

    def _acceleration(self, way: Any, told: int) -> float:
        """Return the largest acceleration, as a part of LIMIT, by the mean value theorem."""
        sent = self._told.streamed[told:]     # a copy: the last command may be repeated meanwhile
        if sent:
            moments, positions, speeds, written = (np.array(part) for part
                                                   in zip(*sent, strict=True))
            if self._kind == 'joint_state':
                return by_speed(moments, written, positions, speeds)
            return by_time(moments, positions)
        apart = np.concatenate([[True], np.diff(way.times) > 0.002])
        return float(np.abs(np.diff(way.velocities[apart], axis=0)
                            / np.diff(way.times[apart])[:, None]).max() / LIMIT)

    def _ways(self, way: Any, braked: int) -> tuple[float, float]:
        """Return how far joints were beyond their limits, and moved back while braking [rad]."""
        beyond = np.maximum(self._lower - way.positions, way.positions - self._upper).max()
        forward = np.sign(way.positions[-1] - way.positions[0])
        gone = way.positions[braked - 5:] * forward
        return float(beyond), float((np.maximum.accumulate(gone, axis=0) - gone).max())

    def _off(self, way: Any, told: int) -> float:
        """Return how far from the end of its last command the arm rests [rad]."""
        ends = ([data for _, data, *_ in self._told.streamed[told:]] if self._kind == 'position'
                or self._kind == 'joint_state' else self._told.ends)
        return float(np.abs(way.positions[-1] - ends[-1]).max()) if ends else 0.0


def by_speed(moments: np.ndarray, written: np.ndarray, positions: np.ndarray,
             speeds: np.ndarray) -> float:
    """
    Return the largest v dv/dx of commands (k, n), as a part of LIMIT; it needs no times.

    After a pause in writing or sending, joints may be slower, as they stood meanwhile. A pause in
    sending shows at the first command after it, or at the second if the first one was delayed.
    """
    late, held = np.diff(moments) > 0.8 * PAUSE, np.diff(written) > 0.95 * PAUSE
    worst, paused = 0.0, late | np.concatenate([[False], late[:-1]]) | held
    for x, v in zip(positions.T, speeds.T, strict=True):
        far, energy = np.abs(np.diff(x)), np.diff(v**2 / 2)
        energy = np.abs(np.where(paused & (energy < 0), 0.0, energy))
        worst = max(worst, float((energy[far > 1e-5] / far[far > 1e-5]).max(initial=0.0)))
    return worst / LIMIT


def by_time(moments: np.ndarray, positions: np.ndarray) -> float:
    """
    Return the largest second difference of commands (k, n) over SPAN, as a part of LIMIT.

    Differences that irregular times of sending explain, as on a busy machine, do not count.
    """
    if len(moments) < 3:
        return 0.0
    steps = np.diff(moments)
    times = np.concatenate([[0.0], np.cumsum(np.minimum(steps, PAUSE))])
    worst = 0.0
    for k, moment in enumerate(times):
        i, j = np.searchsorted(times, [moment + SPAN, moment + 2 * SPAN])
        if j >= len(times):
            break
        before = (positions[i] - positions[k]) / (times[i] - times[k])
        after = (positions[j] - positions[i]) / (times[j] - times[i])
        change = 2 * np.abs(after - before) / (times[j] - times[k])
        moved = np.abs(steps[max(k - 1, 0):j] - PERIOD).max()
        error = 2 * moved * np.maximum(np.abs(before), np.abs(after)) / SPAN**2
        worst = max(worst, float((change - error).max()))
    return worst / LIMIT


@pytest.mark.slow
@pytest.mark.parametrize('delay', [0.0, 0.1, 0.3, 0.6, 1.0])
def test_stop_with_late_joint_states_keeps_the_limits(arm, delay):
    """Stop the arm 20 times, while a fifth of the messages is lost."""
    arm.answered()
    arm.relay.set(delay=delay, lost=0.2)
    seen = [arm.stop() for _ in range(20)]
    worst = Seen(*np.max(np.array(seen), axis=0).tolist())
    print(f'{arm.node} delay {delay:g}: {worst}, moved '
          f'{sum(one.moved > MOVED for one in seen)} of 20', file=sys.stderr)
    assert worst.acceleration < MOST and worst.beyond < 1e-6, seen
    assert worst.back < BACK and worst.off < TOLD, seen
    assert {one.status for one in seen} <= ALLOWED, seen
    # with delays above execute_state_timeout only the first stop moves: its readings are fresh
    assert worst.moved > MOVED, seen
