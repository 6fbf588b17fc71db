"""Interpolation of trajectories as in joint_trajectory_controller."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BPoly

from ros2_ik.core import Array

SECONDS_PER_NANOSECOND = 1e-9


class Knot(NamedTuple):
    """A point of a trajectory: time [ns], positions and derivatives (n,) of the joints."""

    time: int
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


class Trajectory:
    """
    Motion from a state through knots; times count from `stamp` [ns] (0: from the start).

    Interpolation between two knots is linear with positions only, cubic if both have velocities,
    and quintic if both have accelerations as well. After the last knot, the joints rest there.
    """

    def __init__(self, knots: Sequence[Knot], stamp: int = 0) -> None:
        self._given, self._stamp = list(knots), stamp
        self._knots: list[Knot] = []
        self._segment: tuple[int, BPoly] | None = None

    @property
    def begun(self) -> bool:
        """True after a call of `begin`."""
        return bool(self._knots)

    def begin(self, now: int, position: Array, velocity: Array, turning: Sequence[bool],
              behind: int = 0) -> None:
        """
        Start the motion at time `now` [ns] from a state, positions and velocities (n,).

        If the first knot is in the past, the motion starts between knots. `behind` is the delay of
        `now` behind the clock of the stamp [ns]. Joints that are `turning` (continuous) move to
        the first knot by at most half a turn.
        """
        start = self._stamp - behind if self._stamp else now
        first = self._given[0].position
        # shift the knots of continuous joints by whole turns, next to the current positions
        turns = np.round((position - first) / (2 * np.pi)) * (2 * np.pi)
        shift = np.where(np.array(turning) & np.isfinite(turns), turns, 0.0)
        self._knots = [knot._replace(time=start + knot.time, position=knot.position + shift)
                       for knot in self._given]
        # the motion from the current state to the first knot
        if now < self._knots[0].time:
            self._knots.insert(0, Knot(now, position, velocity))

    @property
    def end(self) -> int:
        """The time of the last knot [ns], after `begin`."""
        return self._knots[-1].time

    def sample(self, now: int) -> tuple[Array, Array]:
        """Return positions and velocities, (n,) each, at a time [ns]."""
        # before the first knot and after the last one, the joints rest
        i = bisect_right(self._knots, now, key=lambda knot: knot.time) - 1
        if i < 0 or i == len(self._knots) - 1:
            knot = self._knots[max(i, 0)]
            return knot.position, np.zeros(len(knot.position))
        if self._segment is None or self._segment[0] != i:
            self._segment = i, _polynomial(self._knots[i], self._knots[i + 1])
        seconds = (now - self._knots[i].time) * SECONDS_PER_NANOSECOND
        polynomial = self._segment[1]
        return polynomial(seconds), polynomial(seconds, 1)


def _polynomial(start: Knot, end: Knot) -> BPoly:
    ends = [[start.position], [end.position]]
    if start.velocity is not None and end.velocity is not None:
        ends = [[*ends[0], start.velocity], [*ends[1], end.velocity]]
        if start.acceleration is not None and end.acceleration is not None:
            ends = [[*ends[0], start.acceleration], [*ends[1], end.acceleration]]
    # the number of derivatives at both ends sets the degree
    return BPoly.from_derivatives([0.0, (end.time - start.time) * SECONDS_PER_NANOSECOND], ends)
