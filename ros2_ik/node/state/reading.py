"""A value with its age."""

import time
from typing import Any, NamedTuple


class Reading(NamedTuple):
    """
    A value, when it was measured (node clock [ns], 0: not said) and came (steady clock [s]).

    `noted` is the node clock [ns] when it came, 0 where nobody asks for it.
    """

    value: Any
    stamp: int
    received: float
    noted: int = 0

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
        `simulated` time, which may stand, nothing else than that counts.
        """
        if simulated:
            return abs(now - (self.stamp or self.noted)) * 1e-9
        waited = time.monotonic() - self.received
        return max(abs(now - self.stamp) * 1e-9, waited) if self.stamp else waited

    def measured_at(self, now: int, simulated: bool = False) -> float:
        """
        Return when it was measured, on the steady clock [s]; `now` as above.

        In `simulated` time, on the node's clock.
        """
        if simulated:
            return min(self.stamp or self.noted, now) * 1e-9
        steady = time.monotonic()
        if not self.stamp:
            return self.received
        return min(steady - (now - self.stamp) * 1e-9, self.received)
