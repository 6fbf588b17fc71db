"""The clock by which motions are timed."""

import math
import time
from typing import Any

BACK = 0.1      # by more than messages that change places the clock goes back only if set [s]
AHEAD = 1.0     # it goes ahead by more at once only if set [s],
FASTEST = 10.0  # plus this many times the real time that has passed
SETTLED = 1.0   # so long after it was set, nothing is moved [s]


class MotionClock:
    """
    The node's clock [s], of a simulation or of the system; what motions see never goes back.

    Where the clock is set, as by a simulation that begins anew, the time of motions goes on from
    where it was, as an arm in motion does. `fault` says so for SETTLED: what moves is stopped.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._raw: float | None = None      # what the clock said last; None: nothing yet
        self._last = self._steady = time.monotonic()
        self._offset = 0.0              # how far the time of motions is ahead of the clock [s]
        self._set_at = -math.inf        # when the clock was set (steady)

    def now(self) -> float:
        """Return the time of motions."""
        raw, steady = self._read(), time.monotonic()
        passed = steady - self._steady
        step = passed if raw is None or self._raw is None else raw - self._raw
        was_set = not -BACK < step < AHEAD + FASTEST * passed
        if was_set:
            self._set_at = steady
        if was_set or raw is None or self._raw is None:
            self._offset = self._last + passed - (raw or 0.0)
        self._last = max(self._last, (raw or 0.0) + self._offset)
        self._raw, self._steady = raw, steady
        return self._last

    @property
    def fault(self) -> str:
        """The reason why the clock cannot be trusted, or ''."""
        self.now()
        if self._steady > self._set_at + SETTLED:
            return ''
        return ("the node's clock was set, or two nodes publish /clock; nothing is moved until it "
                f'has gone on evenly for {SETTLED:g} s')

    def of(self, stamp: int) -> float:
        """Return the time of motions at a time of the node's clock [ns]."""
        return stamp * 1e-9 + self._offset

    @property
    def waiting(self) -> bool:
        """True if it is a simulation's clock without a time yet."""
        clock = self._node.get_clock()
        return bool(clock.ros_time_is_active) and not clock.now().nanoseconds

    def _read(self) -> float | None:
        return None if self.waiting else self._node.get_clock().now().nanoseconds * 1e-9
