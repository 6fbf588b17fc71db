"""Gains of tasks and barriers: the part of the error that a step removes."""

import math
from typing import NamedTuple

from ros2_ik.core.checks import positive
from ros2_ik.core.errors import InvalidOptionError


class Gain(NamedTuple):
    """A part of the way for each step, or a rate [1/s], of which each step takes its part."""

    share: float | None
    rate: float | None

    @classmethod
    def of(cls, share: float, rate: float | None, name: str) -> 'Gain':
        """Check gain and rate, arguments of the named task or barrier; a rate has precedence."""
        if rate is not None:
            return cls(None, positive(rate, f'gain_per_second of {name}', InvalidOptionError))
        value = positive(share, f'gain of {name}', InvalidOptionError)
        if value > 1:
            raise InvalidOptionError(f'gain of {name} must be in (0, 1], not {share!r}; for a '
                                     'rate use gain_per_second')
        return cls(value, None)

    def in_step(self, dt: float) -> float:
        """Return the part of the way that a step of dt goes, in (0, 1]."""
        if self.share is not None:
            return self.share
        assert self.rate is not None
        return -math.expm1(-self.rate * dt)
