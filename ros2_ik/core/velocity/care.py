"""How strongly steps are held to a safe one near a bound."""

import math
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import finite, positive
from ros2_ik.core.errors import InvalidOptionError


class Care(NamedTuple):
    """
    The cost 1/2 r |dq - dq_safe|^2 of a barrier, as Pink has it: r = gain / |J|^2.

    Other than there it begins `within` so much of the bound [units of f] and grows to that at the
    bound, with the square: what is far is not damped. Of all rows the one with the largest counts,
    and r goes to zero with |J| below 0.1: what hardly closes a gap is not held.
    """

    gain: float
    within: float

    @classmethod
    def of(cls, gain: Any, within: Any, name: str) -> 'Care':
        """Return it; raises InvalidOptionError for what is no gain from 0 on or no distance."""
        checked = finite(gain, f'safe_displacement_gain of {name}', InvalidOptionError)
        if checked < 0:
            raise InvalidOptionError(f'safe_displacement_gain of {name} must be from 0 on, not '
                                     f'{gain!r}')
        return cls(checked, math.inf if within == math.inf else positive(
            within, f'safe_within of {name}', InvalidOptionError))

    @property
    def reach(self) -> float:
        """How near to its bound something has to be to count."""
        return self.within if self.gain else 0.0

    def weights(self, left: Array) -> Array:
        """Return gains (k,) by how much is left to a bound."""
        near: Array = self.gain * np.clip(1.0 - left / self.within, 0.0, 1.0) ** 2
        return near
