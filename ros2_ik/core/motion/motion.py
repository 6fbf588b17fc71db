"""Motions (joint values as functions of time) and the limits of motions."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import between, floats, positive
from ros2_ik.core.errors import InvalidOptionError

# excess over a position limit that counts as rounding [rad, m]
LIMIT_ROUNDING = 1e-6


class MotionState(NamedTuple):
    """Positions [rad, m], velocities and accelerations of a motion's joints, each (n,)."""

    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True)
class Motion:
    """
    A motion of n `joints`, at rest after `duration` [s].

    `state` returns the state at a time in [0, duration]. `rests` are the times, in ascending
    order, at which some or all joints stop before the end. In a motion that `is_curved`, joints
    may reverse their direction, for example when the tool moves along a line.
    """

    joints: tuple[str, ...]
    duration: float
    state: Callable[[float], MotionState]
    rests: tuple[float, ...] = ()
    is_curved: bool = False

    def at(self, time: float) -> MotionState:
        """Return the state at a time [s] after the start; after the end, the goal at rest."""
        # infinite times are valid: a motion that is not accepted yet starts at inf
        if between(time, 'time', -math.inf, math.inf, InvalidOptionError) < self.duration:
            return self.state(max(time, 0.0))
        rest = np.zeros(len(self.joints))
        return MotionState(self.goal, rest, rest)

    @property
    def goal(self) -> Array:
        """The position (n,) at the end."""
        return self.state(self.duration).position

    def times(self, period: float) -> Array:
        """
        Return sample times (k,) [s]: multiples of `period` and the end, or a later `period` alone.

        Time 0 is left out, because a controller executes a point at time 0 as a step.
        """
        period = positive(period, 'period', InvalidOptionError)
        # no sample less than 0.1 % of a period before the end
        count = max(math.ceil(self.duration / period - 1e-3) - 1, 0)
        inner = period * np.arange(1, count + 1)
        return np.append(inner, max(self.duration, period if count == 0 else 0.0))

    @classmethod
    def spline(cls, joints: tuple[str, ...], times: Array, p: Array, v: Array,
               is_curved: bool = True) -> 'Motion':
        """Return the cubic Hermite spline of positions and velocities (k, n) at times (k,) [s]."""
        # coefficients (k - 1, 4, n) of 1, t, t^2 and t^3 in each interval
        h = np.diff(times)[:, None]
        slope = np.diff(p, axis=0) / h
        cubics = np.stack([p[:-1], v[:-1], (3 * slope - 2 * v[:-1] - v[1:]) / h,
                           (v[:-1] + v[1:] - 2 * slope) / h**2], axis=1)
        begins: list[float] = times[:-1].tolist()

        def state(time: float) -> MotionState:
            k = max(bisect_right(begins, time) - 1, 0)
            t = time - begins[k]
            # the powers of t, and their first and second derivatives
            powers = np.array([[1.0, t, t * t, t * t * t], [0.0, 1.0, 2 * t, 3 * t * t],
                               [0.0, 0.0, 2.0, 6 * t]])
            return MotionState(*(powers @ cubics[k]))
        return cls(joints, float(times[-1]), state, is_curved=is_curved)

    def select(self, joints: tuple[str, ...]) -> 'Motion':
        """Return the motion of some of the joints, in the order of `joints`, without `rests`."""
        chosen = [self.joints.index(joint) for joint in joints]
        return Motion(joints, self.duration, lambda time: MotionState(
            *(values[chosen] for values in self.at(time))), is_curved=self.is_curved)


@dataclass(frozen=True)
class MotionLimits:
    """
    Limits of n joints, (n,) each: velocity, acceleration, jerk [rad or m, per s, s^2, s^3].

    Only the jerk limit may be infinite, which means no limit. Raises InvalidOptionError for a
    limit that is not positive.
    """

    velocity: Array
    acceleration: Array
    jerk: Array

    def __post_init__(self) -> None:
        for name in ('velocity', 'acceleration', 'jerk'):
            given = getattr(self, name)
            values = floats(given, f'the largest {name}', 'numbers, one per joint',
                            InvalidOptionError)
            if values.shape != np.shape(self.velocity) or values.ndim != 1 or not (
                    values > 0).all() or name != 'jerk' and not np.isfinite(values).all():
                raise InvalidOptionError(f'the largest {name} must be positive, one number per '
                                         f'joint, not {given!r}')
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def check_count(self, n: int) -> None:
        """Raise InvalidOptionError unless these are the limits of n joints."""
        if len(self.velocity) != n:
            raise InvalidOptionError(f'limits of {len(self.velocity)} joints for a motion of '
                                     f'{n} joints')

    def scaled(self, velocity: float = 1.0, acceleration: float = 1.0) -> 'MotionLimits':
        """Return the limits times these factors; the jerk is scaled like the acceleration."""
        return MotionLimits(self.velocity * velocity, self.acceleration * acceleration,
                            self.jerk * acceleration)

    def select(self, columns: Sequence[int]) -> 'MotionLimits':
        """Return the limits of the joints with the indices `columns`."""
        return MotionLimits(*(values[list(columns)] for values in (
            self.velocity, self.acceleration, self.jerk)))
