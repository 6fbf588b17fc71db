"""Gains of tasks and barriers: the fraction of an error that a step removes."""

import math
from typing import NamedTuple

from ros2_ik.core.checks import positive
from ros2_ik.core.errors import InvalidOptionError


class Gain(NamedTuple):
    """A gain: `share`, the fraction of the error removed per step, or `rate` [1/s]."""

    share: float | None
    rate: float | None

    @classmethod
    def of(cls, share: float, rate: float | None, name: str) -> 'Gain':
        """Check the arguments gain and gain_per_second of `name`; a rate has precedence."""
        if rate is not None:
            return cls(None, positive(rate, f'gain_per_second of {name}', InvalidOptionError))
        value = positive(share, f'gain of {name}', InvalidOptionError)
        if value > 1:
            raise InvalidOptionError(f'gain of {name} must be in (0, 1], not {share!r}; for a '
                                     'rate use gain_per_second')
        return cls(value, None)

    def in_step(self, dt: float) -> float:
        """Return the fraction of the error that a step of `dt` [s] removes, in (0, 1]."""
        if self.share is not None:
            return self.share
        assert self.rate is not None
        # exponential decay: independent of the length of the steps
        return -math.expm1(-self.rate * dt)
