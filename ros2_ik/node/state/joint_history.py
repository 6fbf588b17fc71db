"""What was told of one joint lately, and whether all of it can be true."""

from collections import deque
import math
from typing import NamedTuple

from ros2_ik.core import Joint
from ros2_ik.node.state.reading import Reading

SETTLED = 1.0     # after a contradiction, readings must agree for so long [s]
NOISE = 0.01      # sensors tremble, and publishers that agree differ, by less [rad, m]
JITTER = 0.05     # of the time between two readings, by stamps or receipt [s]
REVERSAL = 0.25   # too fast there and back within this time is no jitter [s]
UNLIMITED = 10.0  # speed of joints without a limit [rad/s, m/s]
STILL = 0.01      # slower is at rest: as in ros2_controllers [rad/s, m/s]
CALMER = 0.99     # of a difference between two readings counts at the next one
SPACING = 10**7   # between the readings that are remembered [ns],
REMEMBERED = 128  # so many of them: more than a second
SPAN = 25_000_000, 200_000_000   # readings so far apart, from and to, tell a velocity [ns]
CAP = 0.1         # a stamp older than all of these allows for no more [s]
TELLING = 0.03    # after so much of a way it is judged whether velocities agree with it [rad, m]
AGREES = 0.5      # part of it by which they may differ
DOUBTS = 2        # who told so often of rest, or of the other way, and moved, tells wrong ones
SILENCE = 1.5     # after that nobody knows where a joint was meanwhile [s]


def fastest(joint: Joint) -> float:
    """Return the speed that a joint may have [rad/s, m/s]."""
    if 0 < joint.velocity_limit < math.inf:
        return float(joint.velocity_limit)
    return UNLIMITED


def _finite(velocity: float | None) -> float | None:
    return velocity if velocity is not None and math.isfinite(velocity) else None


def _seconds(last: Reading, reading: Reading, stamped: bool) -> float:
    """Return how long after the last one a reading was measured, or came [s]."""
    if stamped:
        return abs(reading.stamp - last.stamp) * 1e-9
    return max(reading.received - last.received, 0.0)


class Contradiction(NamedTuple):
    """Two values of a joint so many seconds apart, and when that came (steady clock [s])."""

    first: float
    second: float
    seconds: float
    at: float


class Change(NamedTuple):
    """How fast a joint moved on average [rad/s, m/s] in its last so many seconds."""

    velocity: float
    seconds: float


class JointHistory:
    """
    The newest reading of a joint, and its velocity.

    `speed` [rad/s, m/s] is what it may have; None: unknown joint, any values agree.
    `velocity` is None where none is told, or drivers tell what the positions disprove: as zeros.
    `tremble` is by how much one reading differs from the next where the joint stands [rad, m].
    `contradiction` is the last one, or None. Where values went there and back, it is a dispute:
    a robot that was set elsewhere, or a slider, does not come back.
    """

    __slots__ = ('_doubts', '_false', '_hasty', '_meant', '_moved', '_past', '_place', '_told',
                 '_velocity', 'contradiction', 'disputed', 'reading', 'speed', 'tremble',
                 'turning')

    def __init__(self, reading: Reading, velocity: float | None, speed: float | None = None,
                 turning: bool = False) -> None:
        self.reading, self._velocity = reading, _finite(velocity)
        self.speed, self.turning = speed, turning
        self.tremble = 0.0
        self._moved = self._meant = 0.0   # by positions and by velocities, since last compared
        self._false = False               # whether they differed then
        self._doubts = 0   # so often it moved otherwise than two readings far apart told
        self._told = reading, self._velocity     # the last one that told a velocity
        self.contradiction: Contradiction | None = None
        self.disputed = -math.inf                        # the last time, on the steady clock [s]
        self._hasty: tuple[float, float] | None = None   # the last change that was too fast, when
        self._past = deque[tuple[int, float]](maxlen=REMEMBERED)   # stamps and values
        self._place = reading                            # the first one where it stands

    @property
    def velocity(self) -> float | None:
        """The last velocity that was told, None where that is known to be wrong, too."""
        return None if self.disproved else self._velocity

    def take(self, reading: Reading, velocity: float | None, factor: float) -> bool:
        """
        Take a reading; returns whether it contradicts those before.

        It may have moved `factor` times as fast as the joint can; 0: however fast. One with an
        older stamp than the newest is no news, unless there was none for as long as SETTLED.
        """
        last = self.reading
        stamped = bool(reading.stamp and last.stamp)
        older = (stamped and reading.stamp < last.stamp
                 and reading.received - last.received < SETTLED)
        wrong = False
        if self.speed is not None and factor:
            speed = self.speed * factor
            wrong = (self._late_differs(reading, speed) if older
                     else self._jumps(last, reading, speed, stamped))
        if older:
            return wrong
        # who repeats a stamp tells nothing new: its robot may have gone
        if stamped and reading.stamp == last.stamp:
            reading = reading._replace(received=last.received)
        velocity = _finite(velocity)
        self._compare(reading, velocity)
        moves = max(abs(velocity or 0.0), abs(self._velocity or 0.0)) > STILL
        self.tremble = 0.0 if moves else max(
            abs(self._apart(last.value, reading.value)), CALMER * self.tremble)
        self.reading, self._velocity = reading, velocity
        if (abs(self._apart(self._place.value, reading.value)) > NOISE
                or _seconds(last, reading, stamped) > SILENCE):
            self._place = reading
        self._remember(reading)
        return wrong

    def stood(self) -> float:
        """Return for how long it has been at one place, as far as is known, by stamps [s]."""
        stamped = bool(self.reading.stamp and self._place.stamp)   # a simulation has its own time
        return _seconds(self._place, self.reading, stamped)

    @property
    def rests(self) -> bool:
        """Whether it has been at one place for so long that it is not even STILL."""
        return self.stood() >= NOISE / STILL

    @property
    def disproved(self) -> bool:
        """Whether velocities are told that are known to be wrong."""
        return self._false or self._doubts >= DOUBTS

    def change(self, seconds: float = 0.0) -> Change | None:
        """Return how it moved in at least the last so many seconds, by stamps, or None."""
        last, (least, most) = self.reading, SPAN
        least = max(least, int(seconds * 1e9))
        for stamp, value in reversed(self._past):
            if last.stamp - stamp >= least:
                seconds = (last.stamp - stamp) * 1e-9
                return (Change(self._apart(value, last.value) / seconds, seconds)
                        if seconds <= most * 1e-9 else None)
        return None

    def contradictory(self, now: float, dispute: bool = False) -> bool:
        """
        Return whether readings contradicted each other lately; `now` is on the steady clock [s].

        `dispute`: and went there and back.
        """
        return (self.contradiction is not None
                and now - (self.disputed if dispute else self.contradiction.at) < SETTLED)

    def _apart(self, first: float, second: float) -> float:
        apart = second - first
        return math.remainder(apart, math.tau) if self.turning else apart

    def _compare(self, reading: Reading, velocity: float | None) -> None:
        """Find out whether velocities agree with how far the joint went meanwhile."""
        if velocity is None:
            return
        (last, before), self._told = self._told, (reading, velocity)
        if before is None:
            return
        seconds = _seconds(last, reading, bool(reading.stamp and last.stamp))
        moved = self._apart(last.value, reading.value)
        # between readings that are far apart it may have gone somewhere and come to rest
        if seconds > SPAN[1] * 1e-9:
            self._moved = self._meant = 0.0
            if abs(moved) > TELLING:
                agrees = max(before * moved, velocity * moved) > STILL * abs(moved)
                self._doubts = 0 if agrees else self._doubts + 1
            return
        # while it stands, what is below STILL must not add up to a way
        if max(abs(velocity), abs(before)) <= STILL and self.rests:
            self._moved = self._meant = 0.0
            return
        self._moved += moved
        self._meant += (before + velocity) / 2 * seconds
        farther = max(abs(self._moved), abs(self._meant))
        if farther > TELLING:
            self._false = abs(self._moved - self._meant) > AGREES * farther
            self._moved = self._meant = 0.0
            self._doubts = 0

    def _jumps(self, last: Reading, reading: Reading, speed: float, stamped: bool) -> bool:
        """Return whether the joint cannot have got from one reading to the next."""
        moved = self._apart(last.value, reading.value)
        if abs(moved) <= NOISE:
            return False
        seconds = _seconds(last, reading, stamped)
        hasty = abs(moved) - NOISE - speed * seconds
        if hasty <= 0:
            return False
        before, self._hasty = self._hasty, (moved, reading.received)
        back = (before is not None and before[0] * moved < 0
                and reading.received - before[1] < REVERSAL)
        return ((back or hasty > speed * JITTER)
                and self._contradict(last.value, reading, seconds, back))

    def _late_differs(self, reading: Reading, speed: float) -> bool:
        """Return whether a reading that comes late is not where the joint was then."""
        if not self._past:
            return False
        stamp, value = min(self._past, key=lambda entry: abs(entry[0] - reading.stamp))
        seconds = abs(reading.stamp - stamp) * 1e-9
        allowed = NOISE + speed * min(seconds, CAP)
        return (abs(self._apart(value, reading.value)) > allowed
                and self._contradict(value, reading, seconds, True))

    def _contradict(self, first: float, reading: Reading, seconds: float, back: bool) -> bool:
        last, moved = self.contradiction, self._apart(first, reading.value)
        if back or (last is not None and reading.received - last.at < SETTLED
                    and self._apart(last.first, last.second) * moved < 0):
            self.disputed = reading.received
        self.contradiction = Contradiction(first, reading.value, seconds, reading.received)
        return True

    def _remember(self, reading: Reading) -> None:
        past = self._past
        if past and reading.stamp < past[-1][0]:   # its time began anew
            past.clear()
        if reading.stamp and (not past or reading.stamp - past[-1][0] >= SPACING):
            past.append((reading.stamp, reading.value))
