"""Where something wants a number to be."""

import math
from typing import NamedTuple

HAIR = 1e-9     # part of the numbers that rounding may come to: no proof rests on that


class Interval(NamedTuple):
    """Where something wants a number to be; `fixed` says why it is at one value."""

    name: str
    lower: float
    upper: float
    fixed: str = ''

    def excludes(self, other: 'Interval') -> bool:
        """Return whether both have no common value, by more than rounding."""
        return exceeds(self.lower, other.upper) or exceeds(other.lower, self.upper)

    def against(self, other: 'Interval') -> str:
        """Say that one that came before excludes another."""
        if self.fixed:
            return f'{self.fixed}, outside {other}'
        return f'{self} and {other} exclude each other'

    def __str__(self) -> str:
        return f'{self.name} in [{self.lower:.6g}, {self.upper:.6g}]'


def exceeds(value: float, most: float) -> bool:
    """Return whether a value is above another one by more than rounding."""
    if math.isinf(value) or math.isinf(most):
        return value > most
    return value > most + HAIR * (1 + abs(value) + abs(most))
