"""Numbers by link: padding and scale."""

from collections.abc import Mapping
import math
from typing import Any

from ros2_ik.core.checks import floats
from ros2_ik.core.errors import InvalidSceneError


def read_padding(value: Any, link: str) -> float:
    """Read a padding [m], from 0 (MoveIt stores negative ones and goes on)."""
    return _number(value, f"padding of '{link}'", 'from 0', 0.0)


def read_scale(value: Any, link: str) -> float:
    """Read a scale, above 0."""
    return _number(value, f"scale of '{link}'", 'above 0', math.ulp(0.0))


def _number(value: Any, what: str, least: str, lowest: float) -> float:
    wanted = f'a finite number {least}'
    number = floats(value, what, wanted, InvalidSceneError)
    if number.shape or not lowest <= float(number) < math.inf:
        raise InvalidSceneError(f'{what} must be {wanted}, not {value!r}')
    return float(number)


def unusual(values: Mapping[str, float], usual: float) -> dict[str, float]:
    """Leave out the usual value, so that equal scenes have equal mappings."""
    return {link: value for link, value in values.items() if value != usual}
