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
    How the joints called `joints` (n names) move; at rest after `duration` [s].

    `state` gives where they are at a time from 0 to `duration`. `rests` are earlier times, in
    order, at which one of them comes to rest.
    """

    joints: tuple[str, ...]
    duration: float
    state: Callable[[float], MotionState]
    rests: tuple[float, ...] = ()

    def at(self, time: float) -> MotionState:
        """Return the state at a time [s] after the start; from the end on it stands still."""
        if time < self.duration:
            return self.state(max(time, 0.0))
        rest = np.zeros(len(self.joints))
        return MotionState(self.goal, rest, rest)

    @property
    def goal(self) -> Array:
        """Where it ends, (n,)."""
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

    def part(self, joints: tuple[str, ...]) -> 'Motion':
        """Return the same motion of some of its joints, in that order."""
        chosen = [self.joints.index(joint) for joint in joints]
        return Motion(joints, self.duration, lambda time: MotionState(
            *(values[chosen] for values in self.at(time))))
