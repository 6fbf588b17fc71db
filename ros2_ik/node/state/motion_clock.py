"""The monotonic clock of motions."""

import math
import time
from typing import Any

# The clock was set if it goes back by more than this [s]; reordered messages stay below.
MAX_BACKWARD = 0.1
# a forward step beyond this plus MAX_RATE times the elapsed real time counts as a set clock [s]
MAX_FORWARD = 1.0
MAX_RATE = 10.0   # of simulated time, relative to real time
SETTLED = 1.0     # time without motions after the clock was set [s]


class MotionClock:
    """
    A clock that follows the node's clock (system or simulated), but never goes back.

    When the node's clock is set, for example by a restarted simulation, the motion clock continues
    from its last time without a jump. `fault` then has a text for SETTLED, so that motions stop.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._last = self._steady = time.monotonic()
        self._raw = self._read()        # last time of the node's clock [s]
        self._offset = self._last - self._raw     # motion clock minus node's clock [s]
        self._set_at = -math.inf        # when the clock was set, on the steady clock [s]

    def now(self) -> float:
        """Return the time of the motion clock [s]."""
        raw, steady = self._read(), time.monotonic()
        passed = steady - self._steady
        if not -MAX_BACKWARD < raw - self._raw < MAX_FORWARD + MAX_RATE * passed:
            # continue by the steady clock over a jump
            self._set_at, self._offset = steady, self._last + passed - raw
        self._last = max(self._last, raw + self._offset)
        self._raw, self._steady = raw, steady
        return self._last

    @property
    def fault(self) -> str:
        """The reason why motions must not rely on the clock, or ''."""
        self.now()
        if self._steady > self._set_at + SETTLED:
            return ''
        return ("the node's clock was set, or two nodes publish /clock; nothing is moved until it "
                f'has run without jumps for {SETTLED:g} s')

    def of(self, stamp: int) -> float:
        """Convert a time of the node's clock [ns] to the motion clock [s]."""
        return stamp * 1e-9 + self._offset

    def _read(self) -> float:
        """Return the time of the node's clock, or of the steady one before simulated time [s]."""
        clock = self._node.get_clock()
        nanoseconds: int = clock.now().nanoseconds
        started = nanoseconds or not clock.ros_time_is_active
        return nanoseconds * 1e-9 if started else time.monotonic()
