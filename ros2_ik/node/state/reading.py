"""A value with its age."""

import time
from typing import Any, NamedTuple


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
