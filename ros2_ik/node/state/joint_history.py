"""Readings with their age, and those of one joint: velocity, and contradictions among them."""

from collections import deque
import math
import time
from typing import Any, NamedTuple

from ros2_ik.core import Joint

SETTLED = 1.0     # after a contradiction, readings must agree for so long [s]
NOISE = 0.01      # differences of sensors and of publishers that agree are smaller [rad, m]
JITTER = 0.05     # of the time between two readings, by stamps or receipt [s]
REVERSAL = 0.25   # too fast there and back within this time is no jitter [s]
UNLIMITED = 10.0  # speed of joints without a limit [rad/s, m/s]
SPACING = 10**7   # between the readings that are kept [ns]
KEPT = 128        # readings: more than a second
CAP = 0.1         # a stamp older than all of these allows for no more [s]
WINDOW = 0.2      # the velocity is the mean over so long [s],
FEWEST = 3        # by so many readings,
SHORTEST, LONGEST = 0.1, 0.35   # which are so far apart, from and to [s]
SILENCE = 1.5     # a longer pause hides where the joint was meanwhile [s]


class Reading(NamedTuple):
    """A value, when it was measured (node clock [ns], 0: no stamp) and received (steady [s])."""

    value: Any
    stamp: int
    received: float

    @classmethod
    def of(cls, value: Any, stamp: Any = None) -> 'Reading':
        """Make one of a value that came just now; `stamp` is a Time message."""
        nanoseconds = stamp.sec * 10**9 + stamp.nanosec if stamp is not None else 0
        return cls(value, nanoseconds, time.monotonic())

    def age(self, now: int, simulated: bool = False) -> float:
        """
        Return the seconds since it was measured; `now` is the node clock's time [ns].

        Counted from the stamp, but never less than since it came; without a stamp since it came.
        A stamp in the future shows clocks that differ: the age is uncertain by as much. In
        `simulated` time, which may stand, the stamp alone counts.
        """
        waited = time.monotonic() - self.received
        if not self.stamp:
            return waited
        age = abs(now - self.stamp) * 1e-9
        return age if simulated else max(age, waited)


def fastest(joint: Joint) -> float:
    """Return the speed that a joint may have [rad/s, m/s]."""
    if 0 < joint.velocity_limit < math.inf:
        return float(joint.velocity_limit)
    return UNLIMITED


def _seconds(last: Reading, reading: Reading) -> float:
    """Return the time between two readings, by stamps if both have one [s]."""
    if reading.stamp and last.stamp:
        return abs(reading.stamp - last.stamp) * 1e-9
    return max(reading.received - last.received, 0.0)


class Contradiction(NamedTuple):
    """Two values of a joint, the time between them [s], and their time on the steady clock [s]."""

    first: float
    second: float
    seconds: float
    at: float


class JointHistory:
    """
    The newest reading of a joint, those before it, and whether all of them can be true.

    `speed` [rad/s, m/s] is the largest possible one; None: unknown joint, any values agree.
    `contradiction` is the last one, or None.
    """

    __slots__ = '_hasty', '_past', '_place', 'contradiction', 'reading', 'speed', 'turning'

    def __init__(self, reading: Reading, speed: float | None = None,
                 turning: bool = False) -> None:
        self.reading = self._place = reading    # _place: the first one at the present place
        self.speed, self.turning = speed, turning
        self.contradiction: Contradiction | None = None
        self._hasty: tuple[float, float] | None = None   # the last change that was too fast, when
        self._past = deque[tuple[int, float]](maxlen=KEPT)   # stamps, values without wrapping

    def take(self, reading: Reading, factor: float) -> bool:
        """
        Take a reading; returns whether it contradicts those before.

        The joint may have moved `factor` times as fast as it can; 0: however fast. A reading with
        an older stamp than the newest is ignored, unless the newest came SETTLED or more before.
        """
        last = self.reading
        stamped = bool(reading.stamp and last.stamp)
        older = (stamped and reading.stamp < last.stamp
                 and reading.received - last.received < SETTLED)
        wrong = False
        if self.speed is not None and factor:
            speed = self.speed * factor
            wrong = (self._late_differs(reading, speed) if older
                     else self._jumps(last, reading, speed))
        if older:
            return wrong
        # a stamp that is repeated says nothing new: the robot may have gone on
        if stamped and reading.stamp == last.stamp:
            reading = reading._replace(received=last.received)
        self.reading = reading
        if (abs(self._apart(self._place.value, reading.value)) > NOISE
                or _seconds(last, reading) > SILENCE):
            self._place = reading
        self._keep(reading)
        return wrong

    @property
    def stood(self) -> float:
        """For how long the joint has been at one place, as far as is known [s]."""
        return _seconds(self._place, self.reading)

    @property
    def velocity(self) -> float | None:
        """
        The velocity that positions and stamps show [rad/s, m/s]; None where they are too few.

        Velocities in joint_states are not used: drivers fill in zeros, or the commanded ones.
        """
        window = self._window()
        if len(window) < FEWEST or not SHORTEST <= -window[-1][0] <= LONGEST:
            return None
        times, values = zip(*window, strict=True)
        middle, mean = sum(times) / len(times), sum(values) / len(values)
        away = [time - middle for time in times]
        rise = sum(one * (value - mean) for one, value in zip(away, values, strict=True))
        return float(rise / sum(one * one for one in away))

    def _window(self) -> list[tuple[float, float]]:
        """Return ages [s], negative, and values in WINDOW, and the last one before it."""
        window = list[tuple[float, float]]()
        for stamp, value in reversed(self._past):
            window.append(((stamp - self.reading.stamp) * 1e-9, value))
            if window[-1][0] <= -WINDOW:
                break
        return window

    def contradictory(self, now: float) -> bool:
        """Return whether readings contradicted each other lately; `now` is steady time [s]."""
        return self.contradiction is not None and now - self.contradiction.at < SETTLED

    def _apart(self, first: float, second: float) -> float:
        apart = second - first
        return math.remainder(apart, math.tau) if self.turning else apart

    def _jumps(self, last: Reading, reading: Reading, speed: float) -> bool:
        """Return whether the joint cannot have got from one reading to the next."""
        moved = self._apart(last.value, reading.value)
        if abs(moved) <= NOISE:
            return False
        seconds = _seconds(last, reading)
        hasty = abs(moved) - NOISE - speed * seconds
        if hasty <= 0:
            return False
        before, self._hasty = self._hasty, (moved, reading.received)
        back = (before is not None and before[0] * moved < 0
                and reading.received - before[1] < REVERSAL)
        return ((back or hasty > speed * JITTER)
                and self._contradict(last.value, reading, seconds))

    def _late_differs(self, reading: Reading, speed: float) -> bool:
        """Return whether a reading that comes late is not where the joint was then."""
        if not self._past:
            return False
        stamp, value = min(self._past, key=lambda entry: abs(entry[0] - reading.stamp))
        seconds = abs(reading.stamp - stamp) * 1e-9
        allowed = NOISE + speed * min(seconds, CAP)
        return (abs(self._apart(value, reading.value)) > allowed
                and self._contradict(value, reading, seconds))

    def _contradict(self, first: float, reading: Reading, seconds: float) -> bool:
        self.contradiction = Contradiction(first, reading.value, seconds, reading.received)
        return True

    def _keep(self, reading: Reading) -> None:
        past = self._past
        if past and reading.stamp < past[-1][0]:   # its time began anew
            past.clear()
        if not reading.stamp or past and reading.stamp - past[-1][0] < SPACING:
            return
        value = past[-1][1] + self._apart(past[-1][1], reading.value) if past else reading.value
        past.append((reading.stamp, value))
