"""Numbers by link: padding and scale."""

from collections.abc import Mapping
import sys
from typing import Any

from ros2_ik.core.checks import floats
from ros2_ik.core.errors import InvalidSceneError

SCALES = 0.001, 1000.0     # beyond them something else is meant


def read_padding(value: Any, link: str) -> float:
    """Read a padding [m], from 0 (MoveIt stores negative ones and goes on)."""
    return _number(value, f"padding of '{link}'", 'from 0', 0.0, sys.float_info.max)


def read_scale(value: Any, link: str) -> float:
    """Read a scale, above 0."""
    return _number(value, f"scale of '{link}'",
                   f'above 0 ({SCALES[0]:g} to {SCALES[1]:g})', *SCALES)


def _number(value: Any, what: str, valid: str, lowest: float, highest: float) -> float:
    wanted = f'a finite number {valid}'
    number = floats(value, what, wanted, InvalidSceneError)
    if number.shape or not lowest <= float(number) <= highest:
        raise InvalidSceneError(f'{what} must be {wanted}, not {value!r}')
    return float(number)


def unusual(values: Mapping[str, float], usual: float) -> dict[str, float]:
    """Leave out the usual value, so that equal scenes have equal mappings."""
    return {link: value for link, value in values.items() if value != usual}
