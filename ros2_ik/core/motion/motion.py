"""Joint values over time."""

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive
from ros2_ik.core.errors import InvalidOptionError


class MotionState(NamedTuple):
    """Positions [rad, m], velocities and accelerations of a motion's joints, each (n,)."""

    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True)
class Motion:
    """
    A motion of `joints` (n names), at rest after `duration` [s].

    `state` gives where they are at a time from 0 to `duration`. `rests` are earlier times, in
    order, at which one of them comes to rest. On a motion that `is_curved` joints may turn back,
    as where a tool goes along a line.
    """

    joints: tuple[str, ...]
    duration: float
    state: Callable[[float], MotionState]
    rests: tuple[float, ...] = ()
    is_curved: bool = False

    def at(self, time: float) -> MotionState:
        """Return the state at a time [s] after the start; from the end on it stands still."""
        if time < self.duration:
            return self.state(max(time, 0.0))
        rest = np.zeros(len(self.joints))
        return MotionState(self.goal, rest, rest)

    @property
    def goal(self) -> Array:
        """The last position, (n,)."""
        return self.state(self.duration).position

    def times(self, period: float) -> Array:
        """
        Return every `period` [s] and the exact end, (k,) and k > 0.

        Never 0: a controller takes a point for that time as a step.
        """
        period = positive(period, 'period', InvalidOptionError)
        count = max(math.ceil(self.duration / period - 1e-3) - 1, 0)
        inner = period * np.arange(1, count + 1)
        return np.append(inner, max(self.duration, period if count == 0 else 0.0))

    @classmethod
    def spline(cls, joints: tuple[str, ...], times: Array, p: Array, v: Array,
               is_curved: bool = True) -> 'Motion':
        """Make the cubic spline of positions p and velocities v (k, n) at times (k,) from 0."""
        h = np.diff(times)[:, None]
        slope = np.diff(p, axis=0) / h
        c2, c3 = (3 * slope - 2 * v[:-1] - v[1:]) / h, (v[:-1] + v[1:] - 2 * slope) / h**2

        def state(time: float) -> MotionState:
            k = min(max(int(np.searchsorted(times, time, 'right')) - 1, 0), len(h) - 1)
            t = time - times[k]
            return MotionState(p[k] + t * (v[k] + t * (c2[k] + t * c3[k])),
                               v[k] + t * (2 * c2[k] + 3 * t * c3[k]), 2 * c2[k] + 6 * t * c3[k])
        return cls(joints, float(times[-1]), state, is_curved=is_curved)

    def part(self, joints: tuple[str, ...]) -> 'Motion':
        """Return the same motion of some of its joints, in that order."""
        chosen = [self.joints.index(joint) for joint in joints]
        return Motion(joints, self.duration, lambda time: MotionState(
            *(values[chosen] for values in self.at(time))), is_curved=self.is_curved)
