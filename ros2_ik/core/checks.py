"""Checks of single arguments, for errors that name the argument and the value."""

from collections.abc import ItemsView, Mapping, Sequence
import math
from reprlib import repr as brief
import sys
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import IKError

FINEST = 1e-12    # tolerances: rounding keeps every answer from meeting smaller ones,
COARSEST = 1e9    # and squares of much larger ones overflow
_LARGEST = sys.float_info.max
SQUARABLE = 1e150    # squares of larger numbers, and sums of some of these, overflow


def floats(value: object, name: str, wanted: str, error: type[IKError]) -> Array:
    """Copy the value into an array of floats, or raise `error`: no text, no complex numbers."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value.copy()
    try:
        array = np.array(value)
        if array.dtype.kind in 'biufO':
            return array if array.dtype == np.float64 else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise error(f'{name} must be {wanted}, not {value!r}')


def are_finite(values: Array) -> bool:
    """Return whether values (n,) and their squares are finite: of few, NumPy's way takes long."""
    return math.hypot(*values.tolist()) < SQUARABLE    # NaN is not


def vector(value: object, name: str, size: int, error: type[IKError],
           most: float = math.inf) -> Array:
    """Copy the value into `size` finite floats up to +-most, read-only, or raise `error`."""
    wanted = f'{size} finite numbers' + (f' up to {most:g}' if most < math.inf else '')
    array = floats(value, name, wanted, error)
    if array.shape != (size,) or not (are_finite(array) or np.isfinite(array).all()) \
            or most < math.inf and (np.abs(array) > most).any():
        raise error(f'{name} must be {wanted}, not {value!r}')
    array.setflags(write=False)
    return array


def matrix(value: object, name: str, columns: int | None, error: type[IKError],
           most: float = math.inf) -> Array:
    """Copy the value into finite floats (m, columns), m > 0, read-only, or raise `error`."""
    wanted = f'rows of {columns or "as many"} finite numbers'
    wanted += f' up to {most:g}' if most < math.inf else ''
    try:
        array = floats(value, name, wanted, error)
    except error:     # which has all the numbers in it
        array = np.zeros(0)
    if array.ndim != 2 or not array.size or columns not in (None, array.shape[1]) \
            or not np.isfinite(array).all() or (np.abs(array) > most).any():
        raise error(f'{name} must be {wanted}, not {brief(value)}')
    array.setflags(write=False)
    return array


def one_or_each(value: object, name: str, count: int, error: type[IKError]) -> Array:
    """Copy one number for all, or one each, into floats (count,), or raise `error`."""
    wanted = f'one number or {count}'
    array = floats(value, name, wanted, error)
    if array.shape not in ((), (count,)) or np.isnan(array).any():
        raise error(f'{name} must be {wanted}, not {value!r}')
    return np.full(count, array)


def direction(value: object, name: str, error: type[IKError], size: int = 3) -> Array:
    """Return the value at length 1, (size,), read-only, or raise `error`: zero points nowhere."""
    array = vector(value, name, size, error)
    largest = max(map(abs, array.tolist()))
    if largest < 1e-9:
        raise error(f'{name} has length zero: it points nowhere')
    scaled = array / largest     # squares of very large numbers overflow
    unit: Array = scaled / math.sqrt(scaled.dot(scaled))
    unit.setflags(write=False)
    return unit


def finite(value: object, name: str, error: type[IKError]) -> float:
    """Return the value as a float if it is a finite number, or raise `error`."""
    return _number(value, name, 'a finite number', error)


def positive(value: object, name: str, error: type[IKError]) -> float:
    """Return the value as a float if it is a finite number above zero, or raise `error`."""
    return _number(value, name, 'a positive finite number', error, math.ulp(0.0))


def non_negative(value: object, name: str, error: type[IKError], most: float = _LARGEST) -> float:
    """Return the value as a float if it is a number from 0 to `most`, or raise `error`."""
    wanted = 'a number from 0 on' if most == math.inf else 'a finite number from 0 on'
    return _number(value, name, wanted, error, 0.0, most)


def between(value: object, name: str, least: float, most: float, error: type[IKError]) -> float:
    """Return the value as a float if it is a number from `least` to `most`, or raise `error`."""
    return _number(value, name, f'a number from {least:g} to {most:g}', error, least, most)


def whole(value: object, name: str, error: type[IKError], least: int = 1,
          most: float = 1e9) -> int:
    """
    Return the value as an int if it is a whole number from `least` to `most`, or raise `error`.

    Compiled code counts in 64 bits.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) \
            or value < least:
        raise error(f'{name} must be a whole number from {least}, not {value!r}')
    if value > most:
        raise error(f'{name} must be at most {most:g}')
    return int(value)


def all_positive(error: type[IKError], **values: object) -> list[float]:
    """Return what `positive` does of each."""
    return [positive(value, name, error) for name, value in values.items()]


def all_whole(error: type[IKError], **values: object) -> list[int]:
    """Return what `whole` does of each."""
    return [whole(value, name, error) for name, value in values.items()]


def one_of(value: object, name: str, valid: Sequence[str], error: type[IKError]) -> str:
    """Return a text that is one of several, or raise `error`."""
    if not isinstance(value, str) or value not in valid:
        raise error(f'{name} is {value!r}; valid: {", ".join(valid)}')
    return value


def flag(value: object, name: str, error: type[IKError]) -> bool:
    """Return the value as a bool if it is one, or raise `error`."""
    if not isinstance(value, (bool, np.bool_)):
        raise error(f'{name} is True or False, not {value!r}')
    return bool(value)


def listed(value: Any) -> list[Any] | None:
    """Return the items of a list, tuple, set or array, or None: a text is one thing, not many."""
    if isinstance(value, (str, bytes)):
        return None
    try:
        return list(value)
    except TypeError:
        return None


def entries(values: object, name: str, error: type[IKError]) -> ItemsView[Any, Any]:
    """Return the items of a mapping, none for None, or raise `error`."""
    if not isinstance(values, Mapping | None):
        raise error(f'{name} must be a mapping from names, not {values!r}')
    return (values or {}).items()


def text(value: object, name: str, error: type[IKError]) -> str:
    """Return a text that is not empty, or raise `error`."""
    if not isinstance(value, str) or not value:
        raise error(f'{name} must be a text that is not empty, not {value!r}')
    return value


def instance(value: object, kind: type, name: str, error: type[IKError]) -> Any:
    """Return a value of one class, or raise `error`."""
    if not isinstance(value, kind):
        raise error(f'{name} must be of the class {kind.__name__}, not {value!r}')
    return value


def instances(value: object, kind: type, name: str, error: type[IKError]) -> list[Any]:
    """Return the items of a list, all of one class, or raise `error`."""
    items = listed(value)
    if items is None or not all(isinstance(item, kind) for item in items):
        raise error(f'{name} must be a list of {kind.__name__}, not {value!r}')
    return items


def distinct_names(value: object, what: str, error: type[IKError]) -> tuple[str, ...]:
    """Return a list of names, at least one and each once, as a tuple, or raise `error`."""
    names = listed(value)
    if not names or not all(isinstance(name, str) for name in names):
        raise error(f'{what} must be a list of names, not {value!r}')
    for name in names:
        if names.count(name) > 1:
            raise error(f"{what} has '{name}' twice")
    return tuple(names)


def _number(value: object, name: str, wanted: str, error: type[IKError],
            least: float = -_LARGEST, most: float = _LARGEST) -> float:
    number = math.nan
    if isinstance(value, (int, float, np.integer, np.floating)) \
            and not isinstance(value, (bool, np.bool_)):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not least <= number <= most:    # NaN fails, too
        raise error(f'{name} must be {wanted}, not {value!r}')
    return number
