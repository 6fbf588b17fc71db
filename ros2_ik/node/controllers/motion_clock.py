"""The time that motions go by."""

import math
import time
from typing import Any

from ros2_ik.node.state.joint_states import publishers

SOON = 1.0    # a clock that goes back again so soon is told by two [s],
APART = 0.1   # and by more than messages that change places [s]


class MotionClock:
    """
    Time of a simulation, once /clock tells it, else the steady clock [s]; it never goes back.

    Where /clock is set back, as by a loop, or a node is told to go by another clock, it goes on
    from where it was: an arm in motion does so, too. Where /clock goes back and forth, it goes by
    the one that is ahead, and `fault` says so.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._ticking = False   # whether the last one was of a simulation
        self._last = -math.inf
        self._raw, self._steady = math.inf, 0.0   # what that clock and the steady one said then
        self._went_on = 0.0     # when that clock had gone on (steady)
        self._offset = 0.0      # how far it is ahead of that clock [s],
        self._before = 0.0      # and was before that clock went back
        self._back, self._back_at = 0.0, -math.inf   # how far it did [s], and when (steady)
        self._disputed = -math.inf                   # when it did so again (steady)

    def now(self) -> float:
        """Return the time."""
        simulated, steady = self._simulated(), time.monotonic()
        raw = simulated or steady
        if self._last == -math.inf:
            self._last = raw
        elif self._ticking != bool(simulated):
            self._offset = self._last - raw
            self._back_at = self._disputed = -math.inf
        else:
            self._mind_steps(raw, steady)
        if raw != self._raw:
            self._went_on = steady
        self._ticking, self._raw, self._steady = bool(simulated), raw, steady
        self._last = max(self._last, raw + self._offset)
        return self._last

    def _mind_steps(self, raw: float, steady: float) -> None:
        """Tell a clock that was set back from two that take turns."""
        again = steady < self._back_at + SOON
        if raw < self._raw - APART:    # else messages have changed places
            if again:
                self._disputed = steady
            else:
                self._before, self._back = self._offset, self._raw - raw
            self._back_at = steady
        elif again and raw - self._raw > steady - self._steady + self._back / 2:
            self._offset = self._before
        if raw + self._offset < self._last - APART and steady > self._disputed + SOON:
            self._offset = self._last - raw

    @property
    def fault(self) -> str:
        """What is wrong with /clock, or ''."""
        if time.monotonic() > self._disputed + SOON:
            return ''
        names = publishers(self._node, '/clock')
        return (f'/clock goes back and forth, by {self._back:.2g} s: is there another one who '
                f'publishes it? publishers: {", ".join(names) or "unknown"}')

    @property
    def stood(self) -> float:
        """For how long it has stood, as in a paused simulation, by the steady clock [s]."""
        self.now()
        return self._steady - self._went_on

    def of(self, moment: float) -> float:
        """Return the time at a moment of the simulation, or of the steady clock."""
        self.now()
        return moment + self._offset

    @property
    def waiting(self) -> bool:
        """Whether it shall go by a simulation of which it has not heard."""
        return bool(self._node.get_clock().ros_time_is_active) and not self._simulated()

    def _simulated(self) -> float:
        """Return the time of the simulation, 0 if there is none."""
        clock = self._node.get_clock()
        return float(clock.now().nanoseconds * 1e-9) if clock.ros_time_is_active else 0.0
