"""The monotonic clock of motions."""

import math
import time
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time

# a larger backward step means that the clock was set; reordered messages cause smaller ones [s]
MAX_BACKWARD = 0.1
# a forward step above this plus MAX_RATE * (elapsed real time) means that the clock was set [s]
MAX_FORWARD = 1.0
MAX_RATE = 10.0   # of simulated time, relative to real time
CLOCK_SETTLING_TIME = 1.0     # time without motions after the clock was set [s]


class MotionClock:
    """
    A clock that follows the node's clock (system or simulated), but never goes back.

    When the node's clock is set, for example by a restarted simulation, the motion clock continues
    from its last time without a jump. For CLOCK_SETTLING_TIME seconds, `fault` makes motions stop.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._node_time: float | None = None     # last time read from the node's clock [s]
        self._last = self._steady = time.monotonic()
        self._offset = 0.0              # motion clock minus node's clock [s]
        self._set_at = -math.inf        # when the clock was set, on the steady clock [s]

    def now(self) -> float:
        """Return the time of the motion clock [s]."""
        raw, steady = self._read(), time.monotonic()
        passed = steady - self._steady
        step = passed if raw is None or self._node_time is None else raw - self._node_time
        was_set = not -MAX_BACKWARD < step < MAX_FORWARD + MAX_RATE * passed
        if was_set:
            self._set_at = steady
        # over a jump, and until simulated time starts, advance by the steady clock
        if was_set or raw is None or self._node_time is None:
            self._offset = self._last + passed - (raw or 0.0)
        self._last = max(self._last, (raw or 0.0) + self._offset)
        self._node_time, self._steady = raw, steady
        return self._last

    @property
    def fault(self) -> str:
        """The reason why motions must not rely on the clock, or ''."""
        self.now()
        if self._steady > self._set_at + CLOCK_SETTLING_TIME:
            return ''
        return ("the node's clock was set, or two nodes publish /clock; nothing is moved until "
                f'the clock has run without jumps for {CLOCK_SETTLING_TIME:g} s')

    def to_motion_time(self, stamp: int) -> float:
        """Convert a time of the node's clock [ns] to the motion clock [s]."""
        return stamp * 1e-9 + self._offset

    def to_node_time(self, moment: int) -> int:
        """Convert a time of the motion clock [ns] to the node's clock [ns]."""
        return moment - round(self._offset * 1e9)

    def _read(self) -> float | None:
        """Return the time of the node's clock [s], None if simulated time has not started."""
        clock = self._node.get_clock()
        nanoseconds = clock.now().nanoseconds
        return None if clock.ros_time_is_active and not nanoseconds else nanoseconds * 1e-9


def nanoseconds(stamp: 'Time') -> int:
    """Return a Time message in nanoseconds."""
    return int(stamp.sec * 10**9 + stamp.nanosec)
