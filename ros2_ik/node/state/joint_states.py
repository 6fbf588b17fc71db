"""Joint readings from joint_states: their age, velocity, time at rest, and contradictions."""

from collections import deque
from collections.abc import Iterable, Sequence
import math
import statistics
import time
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from ros2_ik.core import Array, Robot, Status
from ros2_ik.core.errors import counted
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.state.motion_clock import MotionClock, nanoseconds

if TYPE_CHECKING:
    from rclpy.node import Node
    from sensor_msgs.msg import JointState

AGREEMENT_TIME = 1.0     # time for which readings must agree after a contradiction [s]
NOISE = 0.01      # position differences up to this value count as noise [rad, m]
MIN_READING_INTERVAL = 0.02   # shorter times between two readings count as this, due to jitter [s]
MIN_SPACING = 10**7     # minimum time between two stored readings [ns]
MAX_STORED = 128        # number of stored readings; at MIN_SPACING, they cover 1.28 s
MAX_LATE_INTERVAL = 0.1  # longer times from an out-of-order to a stored reading count as this [s]
WINDOW = 0.2            # the velocity is a regression over this time [s]
MIN_READINGS = 3        # minimum number of readings for a velocity
MIN_SPAN = 0.1          # minimum time that the readings for a velocity must cover [s]
MAX_SPAN = 0.35         # maximum time that the readings for a velocity may cover [s]
MAX_GAP = 1.5     # maximum interval between equal readings to count as continuous rest [s]
MAX_POSITION = 1e6   # maximum absolute value of a valid reading [rad, m]
DEFAULT_MAX_SPEED = 10.0     # maximum speed of joints without a limit [rad/s, m/s]
REST_SPEED = 0.01   # joints that are slower count as at rest, as in ros2_controllers [rad/s, m/s]


class Reading(NamedTuple):
    """A position, its stamp (node clock [ns]; 0: none), and its receipt (steady clock [s])."""

    value: float
    stamp: int
    received: float


def _seconds(last: Reading, reading: Reading) -> float:
    """Return the time between two readings [s]: by stamps if both have one, else by receipt."""
    if reading.stamp and last.stamp:
        return abs(reading.stamp - last.stamp) * 1e-9
    return max(reading.received - last.received, 0.0)


class JointHistory:
    """
    The recent readings of a joint, its velocity, and contradictions between readings.

    `speed` is the velocity limit [rad/s, m/s], infinite for an unknown joint.
    """

    def __init__(self, reading: Reading, speed: float, is_continuous: bool) -> None:
        # _rest: first reading at the current position; all later readings are within NOISE of it
        self.reading = self._rest = reading
        self.speed, self.is_continuous = speed, is_continuous
        # text on the last contradiction, and its time of receipt (steady clock [s])
        self.contradiction, self.contradiction_at = '', -math.inf
        # (stamp [ns], value); values of continuous joints have no jumps by whole turns
        self._past = deque[tuple[int, float]](maxlen=MAX_STORED)

    def record(self, reading: Reading, factor: float) -> bool:
        """
        Record a reading; return whether it contradicts earlier ones.

        Readings contradict each other if the joint would have to move faster than `factor` times
        its velocity limit; factor 0 disables this check. A reading with an out-of-order stamp is
        checked, but recorded only if received AGREEMENT_TIME or more after the last recorded one.
        """
        last = self.reading
        stamped = bool(reading.stamp and last.stamp)
        older = (stamped and reading.stamp < last.stamp
                 and reading.received - last.received < AGREEMENT_TIME)
        contradicts = bool(factor) and self._contradicts(reading, older, self.speed * factor)
        if older:
            return contradicts
        # a repeated stamp is no new measurement: the earlier time of receipt stays
        if stamped and reading.stamp == last.stamp:
            reading = reading._replace(received=last.received)
        self.reading = reading
        if (abs(self._difference(self._rest.value, reading.value)) > NOISE
                or _seconds(last, reading) > MAX_GAP):
            self._rest = reading
        self._store(reading)
        return contradicts

    @property
    def rest_time(self) -> float:
        """Time for which all readings have shown the current position [s]."""
        return _seconds(self._rest, self.reading)

    @property
    def velocity(self) -> float | None:
        """
        Velocity from positions and stamps [rad/s, m/s]; None if readings are too few or too rare.

        Velocities in joint_states are not used, since some drivers publish zeros or commands.
        """
        # (stamp minus newest stamp [s], value) of the readings in WINDOW, and of the one before
        window = list[tuple[float, float]]()
        for stamp, value in reversed(self._past):
            window.append(((stamp - self.reading.stamp) * 1e-9, value))
            if window[-1][0] <= -WINDOW:
                break
        if len(window) < MIN_READINGS or not MIN_SPAN <= -window[-1][0] <= MAX_SPAN:
            return None
        return float(statistics.linear_regression(*zip(*window, strict=True)).slope)

    def _difference(self, first: float, second: float) -> float:
        difference = second - first
        return math.remainder(difference, math.tau) if self.is_continuous else difference

    def _contradicts(self, reading: Reading, older: bool, speed: float) -> bool:
        """Return whether the speed from the last (if `older`: the nearest) reading is too high."""
        before, seconds = self.reading.value, _seconds(self.reading, reading)
        if older and self._past:
            stamp, before = min(self._past, key=lambda entry: abs(entry[0] - reading.stamp))
            seconds = min(abs(reading.stamp - stamp) * 1e-9, MAX_LATE_INTERVAL)
        moved = abs(self._difference(before, reading.value))
        if moved <= NOISE + speed * max(seconds, MIN_READING_INTERVAL):
            return False
        self.contradiction = (f'at {before:.4g} and, {seconds:.3g} s apart, at '
                              f'{reading.value:.4g}, while its maximum velocity is '
                              f'{self.speed:.3g}/s')
        self.contradiction_at = reading.received
        return True

    def _store(self, reading: Reading) -> None:
        past = self._past
        # the clock of the stamps was reset
        if past and reading.stamp < past[-1][0]:
            past.clear()
        if not reading.stamp or past and reading.stamp - past[-1][0] < MIN_SPACING:
            return
        value = (past[-1][1] + self._difference(past[-1][1], reading.value) if past
                 else reading.value)
        past.append((reading.stamp, value))


class JointStates:
    """
    The readings of each joint; several publishers can each publish some of the joints.

    `topic` is the resolved name of joint_states. `parameters` has execute_state_timeout, and
    joint_state_speed, which is the argument `factor` of JointHistory.record.
    """

    def __init__(self, node: 'Node', topic: str, parameters: Any, clock: MotionClock) -> None:
        self._node, self._topic, self.parameters, self._clock = node, topic, parameters, clock
        self._joints: dict[str, JointHistory] = {}
        # by joint: maximum speed [rad/s, m/s], and whether the joint is continuous
        self._limits: dict[str, tuple[float, bool]] = {}
        self.newest: Reading | None = None

    def set_robot(self, robot: Robot) -> None:
        """Adopt the speed limits of a robot's joints; keep only the last reading of each joint."""
        limits = ((joint, joint.velocity_limit) for joint in robot.joints if joint.is_scalar)
        self._limits = {joint.name: (limit if limit < math.inf else DEFAULT_MAX_SPEED,
                                     joint.kind == 'continuous') for joint, limit in limits}
        self._joints = {name: self._history(name, old.reading)
                        for name, old in self._joints.items()}

    def _history(self, name: str, reading: Reading) -> JointHistory:
        return JointHistory(reading, *self._limits.get(name, (math.inf, False)))

    def record(self, message: 'JointState') -> None:
        """Record a JointState; positions that are NaN or beyond MAX_POSITION are ignored."""
        names, positions = message.name, message.position
        if len(names) != len(positions):
            # a message with velocities only is valid
            if len(positions):
                self._warn(f'a joint_states message with {counted(len(names), "name")} and '
                           f'{counted(len(positions), "position")} is ignored')
            return
        stamp, received = nanoseconds(message.header.stamp), time.monotonic()
        factor = self.parameters.joint_state_speed
        nan, contradicts = dict[str, float](), list[str]()
        for name, position in zip(names, positions, strict=True):
            if not abs(position) < MAX_POSITION:    # rejects NaN, too
                nan[name] = position
                continue
            self.newest = reading = Reading(position, stamp, received)
            known = self._joints.get(name)
            if known is None:
                self._joints[name] = self._history(name, reading)
            elif known.record(reading, factor):
                contradicts.append(name)
        if nan:
            self._warn(f'joint_states has no valid position for {nan}: earlier values, if any, '
                       'remain in use and become stale')
        if contradicts:
            self._warn(self.contradiction_text(contradicts[0]))

    def get(self, name: str) -> Reading | None:
        """Return the last reading of a joint, or None."""
        joint = self._joints.get(name)
        return joint.reading if joint else None

    def age(self, reading: Reading) -> float:
        """
        Return the age of a reading now [s].

        The age is the absolute difference of clock and stamp (a stamp in the future shows that
        clocks differ), but at least the time since receipt. In simulated time, which can be
        paused, only the stamp counts. Without a stamp, the age is the time since receipt.
        """
        waited, clock = time.monotonic() - reading.received, self._node.get_clock()
        if not reading.stamp:
            return waited
        age: float = abs(clock.now().nanoseconds - reading.stamp) * 1e-9
        return age if clock.ros_time_is_active else max(age, waited)

    def age_text(self, reading: Reading) -> str:
        """Return the age in words, with the time since receipt, which reveals differing clocks."""
        return (f'{self.age(reading):.3g} s old '
                f'(received {time.monotonic() - reading.received:.2g} s ago)')

    # -- faults ---------------------------------------------------------------------------

    def contradiction_text(self, name: str) -> str:
        """Return an error text if recent readings of a joint contradict each other, or ''."""
        joint = self._joints.get(name)
        if joint is None or time.monotonic() - joint.contradiction_at >= AGREEMENT_TIME:
            return ''
        names = sorted(f'{info.node_namespace.rstrip("/")}/{info.node_name}'
                       for info in self._node.get_publishers_info_by_topic(self._topic))
        return (f"joint_states contradict each other: joint '{name}' {joint.contradiction}; "
                f'publishers: {", ".join(names)}')

    # -- state for motions ----------------------------------------------------------------

    def stale_reason(self, joints: Iterable[str]) -> str:
        """Return the reason why positions of joints cannot be used for motions now, or ''."""
        if fault := self._clock.fault:
            return fault
        limit = self.parameters.execute_state_timeout
        for name in joints:
            if (reading := self.get(name)) is None:
                return f"no joint_states received for joint '{name}'"
            if contradiction := self.contradiction_text(name):
                return contradiction
            if not reading.stamp:
                return (f"joint_states of joint '{name}' have no header.stamp, so that their age "
                        'is unknown; the driver must set it to the time of measurement')
            if self.age(reading) > limit:
                return (f"joint_states of joint '{name}' are {self.age_text(reading)}; "
                        f'parameter execute_state_timeout allows {limit:g} s')
        return ''

    def require(self, joints: Sequence[str]) -> None:
        """Raise RequestError (ROBOT_STATE_STALE) unless all joints have usable positions."""
        if reason := self.stale_reason(joints):
            raise RequestError(Status.ROBOT_STATE_STALE, reason)

    def require_agreement(self, joints: Iterable[str]) -> None:
        """Raise RequestError if readings of any of the joints contradict each other."""
        for name in sorted(joints):
            if contradiction := self.contradiction_text(name):
                raise RequestError(Status.ROBOT_STATE_STALE, contradiction)

    def state(self, joints: Sequence[str]) -> tuple[Array, Array]:
        """Return positions and velocities, (n,) each; a velocity that is unknown or small is 0."""
        known = [self._joints[name] for name in joints]
        speeds = [joint.velocity or 0.0 for joint in known]
        return (np.array([joint.reading.value for joint in known]),
                np.array([v if abs(v) > REST_SPEED else 0.0 for v in speeds]))

    def difference(self, joints: Sequence[str], positions: Any) -> Array:
        """Return positions (..., n) minus measured ones (continuous joints within half a turn)."""
        known = [self._joints[name] for name in joints]
        values: Array = np.asarray(positions, dtype=float) - [one.reading.value for one in known]
        circular = [one.is_continuous for one in known]
        values[..., circular] = np.remainder(values[..., circular] + np.pi, 2 * np.pi) - np.pi
        return values

    def have_velocities(self, joints: Iterable[str]) -> bool:
        """Return whether the velocities of all joints are known."""
        return all(self._joints[name].velocity is not None for name in joints)

    def moving_reason(self, joints: Sequence[str]) -> str:
        """Return why joints are not known to be at rest (one moves or may move), or ''."""
        for name in joints:
            speed = self._joints[name].velocity
            if speed is None:
                return (f"joint_states have too few readings of joint '{name}' (too recent or "
                        'too rare): it is not known whether the joint moves')
            if abs(speed) > REST_SPEED:
                return f"joint '{name}' moves at {speed:.3g}/s"
        return ''

    def oldest_time(self, joints: Iterable[str]) -> float:
        """Return the time of the oldest of the joints' last readings, on the motion clock [s]."""
        return self._clock.to_motion_time(min(self._joints[name].reading.stamp for name in joints))

    def rest_time(self, joints: Iterable[str]) -> float:
        """Return how long all of the joints have been at their current positions [s]."""
        return min(self._joints[name].rest_time for name in joints)

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text, throttle_duration_sec=5.0)
