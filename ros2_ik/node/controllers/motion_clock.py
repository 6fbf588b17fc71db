"""The time that motions go by."""

import time
from typing import Any


class MotionClock:
    """
    Time of a simulation, once /clock tells it, else the steady clock [s]; it never goes back.

    Where /clock is set back, by a loop or by two who tell it, or a node is told to go by another
    clock, it goes on from where it was: an arm in motion does so, too.
    """

    def __init__(self, node: Any) -> None:
        self._clock = node.get_clock
        self._ticking = False   # whether the last one was of a simulation
        self._last = -float('inf')
        self._offset = 0.0      # how far it is ahead of that clock [s]

    def now(self) -> float:
        """Return the time."""
        simulated = self._simulated()
        raw = simulated or time.monotonic()
        if self._last > raw + self._offset or (self._ticking != bool(simulated)
                                              and self._last > -float('inf')):
            self._offset = self._last - raw
        self._ticking, self._last = bool(simulated), raw + self._offset
        return self._last

    def of(self, moment: float) -> float:
        """Return the time at a moment of the simulation, or of the steady clock."""
        self.now()
        return moment + self._offset

    @property
    def waiting(self) -> bool:
        """Whether it shall go by a simulation of which it has not heard."""
        return bool(self._clock().ros_time_is_active) and not self._simulated()

    def _simulated(self) -> float:
        """Return the time of the simulation, 0 if there is none."""
        clock = self._clock()
        return float(clock.now().nanoseconds * 1e-9) if clock.ros_time_is_active else 0.0
