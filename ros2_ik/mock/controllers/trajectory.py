"""A trajectory between points, as joint_trajectory_controller interpolates."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BPoly

from ros2_ik.core import Array

SECOND = 1e-9   # in nanoseconds


class Knot(NamedTuple):
    """A point of a trajectory: positions and derivatives of all joints; time in nanoseconds."""

    time: int
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


class Trajectory:
    """
    Motion from a state through knots, whose times count from `stamp` (0: from its begin).

    Between positions it is linear, where both ends have velocities cubic, with accelerations
    quintic. After the last knot it stands there.
    """

    def __init__(self, knots: Sequence[Knot], stamp: int = 0) -> None:
        self._given, self._stamp = list(knots), stamp
        self._knots: list[Knot] = []
        self._segment: tuple[int, BPoly] | None = None

    @property
    def begun(self) -> bool:
        """True once `begin` was called."""
        return bool(self._knots)

    def begin(self, now: int, position: Array, velocity: Array, turning: Sequence[bool],
              behind: int = 0) -> None:
        """
        Continue from a state; a first knot in the past is joined midway.

        The stamp is one of a clock that `now` is `behind` by so much [ns].
        Joints that are `turning` take the short way to the first knot, and keep their turns.
        """
        start = self._stamp - behind if self._stamp else now
        first = self._given[0].position
        turns = np.round((position - first) / (2 * np.pi)) * (2 * np.pi)
        shift = np.where(np.array(turning) & np.isfinite(turns), turns, 0.0)
        self._knots = [knot._replace(time=start + knot.time, position=knot.position + shift)
                       for knot in self._given]
        if now < self._knots[0].time:
            self._knots.insert(0, Knot(now, position, velocity))

    @property
    def end(self) -> int:
        """The time of the last knot, once begun."""
        return self._knots[-1].time

    def sample(self, now: int) -> tuple[Array, Array]:
        """Return position and velocity at a time."""
        i = bisect_right(self._knots, now, key=lambda knot: knot.time) - 1
        if i < 0 or i == len(self._knots) - 1:
            knot = self._knots[max(i, 0)]
            return knot.position, np.zeros(len(knot.position))
        if self._segment is None or self._segment[0] != i:
            self._segment = i, _polynomial(self._knots[i], self._knots[i + 1])
        seconds = (now - self._knots[i].time) * SECOND
        polynomial = self._segment[1]
        return polynomial(seconds), polynomial(seconds, 1)


def _polynomial(start: Knot, end: Knot) -> BPoly:
    ends = [[start.position], [end.position]]
    if start.velocity is not None and end.velocity is not None:
        ends = [[*ends[0], start.velocity], [*ends[1], end.velocity]]
        if start.acceleration is not None and end.acceleration is not None:
            ends = [[*ends[0], start.acceleration], [*ends[1], end.acceleration]]
    return BPoly.from_derivatives([0.0, (end.time - start.time) * SECOND], ends)
