"""A value with its age."""

import time
from typing import Any, NamedTuple


class Reading(NamedTuple):
    """A value, when it was measured (node clock [ns], 0: not said) and came (steady clock [s])."""

    value: Any
    stamp: int
    received: float

    @classmethod
    def of(cls, value: Any, stamp: Any = None) -> 'Reading':
        """Make one of a value that came just now; `stamp` is a Time message."""
        nanoseconds = stamp.sec * 10**9 + stamp.nanosec if stamp is not None else 0
        return cls(value, nanoseconds, time.monotonic())

    def age(self, now: int) -> float:
        """Seconds since it was measured; `now` is the node clock's time [ns]."""
        if 0 < self.stamp <= now:
            return (now - self.stamp) * 1e-9
        return time.monotonic() - self.received   # no stamp, or one in the future
