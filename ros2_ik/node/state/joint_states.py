"""The last readings of all joints, from messages on joint_states."""

from collections.abc import Callable, Sequence
import math
import time
from typing import TYPE_CHECKING

from ros2_ik.core import Robot
from ros2_ik.node.state.joint_history import JointHistory, Reading

if TYPE_CHECKING:
    from rclpy.node import Node
    from sensor_msgs.msg import JointState

MAX_POSITION = 1e6   # of a valid reading [rad, m]
UNLIMITED = 10.0     # maximum speed of joints without a limit [rad/s, m/s]
FACTOR = 1.5         # maximum plausible speed of a joint, as a multiple of its limit
CLOCK_RESET = 10**9  # jump back of the clock that counts as a restart [ns]
RECENT = 0.2         # age of the last message up to which the driver counts as running [s]


class JointStates:
    """
    The readings of each joint; several publishers can each publish some of the joints.

    `now` returns the node clock's time [ns], `publishers` the names of the publishing nodes,
    `factor` the argument `factor` of JointHistory.take, and `simulated` whether time is simulated.
    """

    def __init__(self, warn: Callable[[str], object], now: Callable[[], int] = time.time_ns,
                 publishers: Callable[[], Sequence[str]] = tuple,
                 factor: Callable[[], float] = lambda: FACTOR,
                 simulated: Callable[[], bool] = lambda: False) -> None:
        self._warn, self._now, self._publishers, self._factor = warn, now, publishers, factor
        self._simulated = simulated
        self._joints: dict[str, JointHistory] = {}
        # by joint: maximum speed [rad/s, m/s], and whether the joint is continuous
        self._limits: dict[str, tuple[float, bool]] = {}
        self._received = math.inf   # receipt of the last message, on the steady clock [s]
        self._last_time = 0     # last time read from the node clock [ns]
        self.newest: Reading | None = None

    def set_robot(self, robot: Robot) -> None:
        """Adopt the speed limits of a robot's joints; keep only the last reading of each joint."""
        limits = ((joint, joint.velocity_limit) for joint in robot.joints if joint.is_scalar)
        self._limits = {joint.name: (limit if 0 < limit < math.inf else UNLIMITED,
                                     joint.kind == 'continuous') for joint, limit in limits}
        self._joints = {name: JointHistory(old.reading, *self._limits.get(name, (None, False)))
                        for name, old in self._joints.items()}

    def _check_clock(self) -> None:
        """Drop stamped readings if the clock went back, such as when a simulation restarts."""
        now = self._now()
        if now < self._last_time - CLOCK_RESET:
            self._joints = {name: joint for name, joint in self._joints.items()
                            if not joint.reading.stamp}
        self._last_time = now

    def take(self, message: 'JointState') -> None:
        """Record a JointState; positions that are NaN or beyond MAX_POSITION are ignored."""
        names, positions = message.name, message.position
        if len(names) != len(positions):
            # a message with velocities only is valid
            if len(positions):
                self._warn(f'a joint_states message with {len(names)} names and '
                           f'{len(positions)} positions is ignored')
            return
        _, stamp, received = Reading.of(None, message.header.stamp)
        self._received = received
        self._check_clock()
        factor = self._factor()
        nan, wrong = dict[str, float](), list[str]()
        for name, position in zip(names, positions, strict=True):
            if not abs(position) < MAX_POSITION:    # fails for NaN, too
                nan[name] = position
                continue
            self.newest = reading = Reading(position, stamp, received)
            known = self._joints.get(name)
            if known is None:
                self._joints[name] = JointHistory(reading, *self._limits.get(name, (None, False)))
            elif known.take(reading, factor):
                wrong.append(name)
        if nan:
            listed = ', '.join(f"'{name}' ({value})" for name, value in nan.items())
            self._warn(f'joint_states has no valid position for {listed}: earlier values, if '
                       'any, remain in use and become stale')
        if wrong:
            self._warn(self.contradiction(wrong[0]))

    def get(self, name: str) -> Reading | None:
        """Return the last reading of a joint."""
        joint = self._joints.get(name)
        return joint.reading if joint else None

    def history(self, name: str) -> JointHistory:
        """Return the readings of a joint; there must be one."""
        return self._joints[name]

    def age(self, name: str) -> float:
        """Return the age of a joint's last reading, inf if there is none [s]."""
        joint = self._joints.get(name)
        return joint.reading.age(self._now(), self._simulated()) if joint else math.inf

    # -- faults ---------------------------------------------------------------------------

    def contradiction(self, name: str) -> str:
        """Return an error text if readings of a joint contradict each other, or ''."""
        joint = self._joints.get(name)
        if joint is None or joint.contradiction is None or not joint.contradictory(
                time.monotonic()):
            return ''
        first, second, seconds, _ = joint.contradiction
        names = self._publishers()
        return (f"joint_states contradict each other: joint '{name}' at {first:.4g} and, "
                f'{seconds:.3g} s apart, at {second:.4g}, while its maximum velocity is '
                f'{joint.speed:.3g}/s' + (f'; publishers: {", ".join(names)}' if names else ''))

    def contradictions(self) -> list[str]:
        """Return the names of the joints whose readings contradict each other."""
        now = time.monotonic()
        return [name for name, joint in self._joints.items() if joint.contradictory(now)]

    def clock_fault(self, name: str) -> str:
        """
        Return why readings of a joint are stale: no messages at all, or wrong stamps.

        Returns '' if only this joint is missing in the messages.
        """
        reading, now = self.get(name), time.monotonic()
        if (silent := now - self._received) > RECENT:
            return f'; no joint_states at all for {silent:.2g} s: does the driver run?'
        if reading is None or not reading.stamp or now - reading.received > RECENT:
            return ''
        off = (self._now() - reading.stamp) * 1e-9
        return (f'; the last message came {now - reading.received:.2g} s ago, but its stamp is '
                f"{abs(off):.2g} s {'behind' if off > 0 else 'ahead of'} this node's clock: "
                'messages are delayed, or the clocks differ (synchronise them; set use_sim_time '
                'alike for all nodes)')


def publishers(node: 'Node', topic: str) -> list[str]:
    """Return the full name of the node of each publisher on a topic, as discovered by `node`."""
    return sorted(f'{info.node_namespace.rstrip("/")}/{info.node_name}'
                  for info in node.get_publishers_info_by_topic(topic))
