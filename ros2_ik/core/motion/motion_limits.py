"""Velocity, acceleration and jerk limits of joints."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import InvalidOptionError

# excess of a position limit at the end of a motion that counts as rounding [rad, m]
LIMIT_ROUNDING = 1e-6


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
            values = floats(given, f'the largest {name}', 'numbers, one a joint',
                            InvalidOptionError)
            if values.ndim != 1 or not (values > 0).all() or (
                    name != 'jerk' and not np.isfinite(values).all()):
                raise InvalidOptionError(f'the largest {name} must be positive, one number a '
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

    def part(self, columns: Sequence[int]) -> 'MotionLimits':
        """Return the limits of some of the joints, by their indices in these limits."""
        return MotionLimits(*(values[list(columns)] for values in (
            self.velocity, self.acceleration, self.jerk)))
