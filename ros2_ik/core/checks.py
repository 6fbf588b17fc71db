"""Checks of single arguments; the errors name the argument and, in most cases, valid values."""

from collections.abc import Callable, ItemsView, Mapping, Sequence
import math
from reprlib import repr as brief
import sys
from typing import Any, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import IKError, UnknownNameError

T = TypeVar('T')
# smallest valid tolerance [m, rad]: rounding errors exceed smaller tolerances
MIN_TOLERANCE = 1e-12
MAX_TOLERANCE = 1e9    # largest valid tolerance [m, rad]
_LARGEST = sys.float_info.max
# bound on the length of a vector: sums of squares of larger numbers may overflow
MAX_NORM = 1e150


def floats(value: object, name: str, wanted: str, error: type[IKError]) -> Array:
    """Copy numbers into a float array of the same shape; raise `error` for anything else."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value.copy()
    try:
        array = np.array(value)
        # NumPy would also convert texts ('U'), and complex numbers ('c') without their imaginary
        # parts; object arrays ('O') hold integers beyond 64 bits
        if array.dtype.kind in 'biufO':
            return array if array.dtype == np.float64 else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise error(f'{name} must be {wanted}, not {brief(value)}')


def are_finite(values: Array) -> bool:
    """Return True if the values (n,) are finite and their Euclidean norm is below MAX_NORM."""
    # faster than np.isfinite for short arrays; a NaN makes the comparison False
    return math.hypot(*values.tolist()) < MAX_NORM


def vector(value: object, name: str, size: int, error: type[IKError],
           maximum: float = math.inf) -> Array:
    """Copy the value into a read-only array (size,) of finite floats in [-maximum, maximum]."""
    wanted = f'{size} finite numbers' + (f' up to {maximum:g}' if maximum < math.inf else '')
    array = floats(value, name, wanted, error)
    if array.shape != (size,) or not (are_finite(array) or np.isfinite(array).all()) \
            or maximum < math.inf and (np.abs(array) > maximum).any():
        raise error(f'{name} must be {wanted}, not {value!r}')
    array.setflags(write=False)
    return array


def vectors(values: Mapping[str, object], what: str, size: int, error: type[IKError]) -> Array:
    """Copy named values into the rows of an array (k, size); `what` precedes names in errors."""
    try:
        array = np.array([*values.values()])
    except ValueError:      # values of several lengths
        array = np.empty(0)
    # check all rows together: this takes NumPy no longer than a check of one row
    if (array.shape == (len(values), size) and array.dtype.kind in 'if'
            and np.isfinite(array).all()):
        return array.astype(np.float64)
    return np.reshape([vector(value, f"{what} '{name}'", size, error)
                       for name, value in values.items()], (-1, size))


def matrix(value: object, name: str, columns: int | None, error: type[IKError],
           maximum: float = math.inf) -> Array:
    """Copy the value into a read-only array (m, n) of finite floats; n = `columns` (None: any)."""
    rows = f'rows of {columns}' if columns else 'equally long rows of'
    wanted = f'{rows} finite numbers' + (f' up to {maximum:g}' if maximum < math.inf else '')
    array = floats(value, name, wanted, error)
    if array.ndim != 2 or not array.size or columns not in (None, array.shape[1]) \
            or not np.isfinite(array).all() or (np.abs(array) > maximum).any():
        raise error(f'{name} must be {wanted}, not {brief(value)}')
    array.setflags(write=False)
    return array


def row_numbers(value: object, name: str, error: type[IKError], maximum: float = _LARGEST,
                count: int = 0) -> Array:
    """
    Copy one number, or one per row, into a float array () or (m,).

    Valid numbers are in [-maximum, maximum]. `count` is the number of rows m (0: unknown).
    """
    rows = '' if count == 1 else f' or {count}' if count else ', or one for each row'
    wanted = f'one {"" if maximum == math.inf else "finite "}number{rows}'
    array = floats(value, name, wanted, error)
    if not (np.abs(array) <= maximum).all():
        raise error(f'{name} must be {wanted}, not {brief(value)}')
    if array.ndim > 1 or array.ndim and count not in (0, len(array)):
        raise error(f'{name} must be one number{rows}, not of shape {array.shape}')
    return array


def direction(value: object, name: str, error: type[IKError], size: int = 3) -> Array:
    """Return a read-only unit vector (size,); raise `error` if all |components| are below 1e-9."""
    array = vector(value, name, size, error)
    largest = max(map(abs, array.tolist()))
    if largest < 1e-9:
        raise error(f'{name} has length zero, so it has no direction')
    # divide first by the largest component: squares of very large numbers would overflow
    scaled = array / largest
    unit: Array = scaled / math.sqrt(scaled.dot(scaled))
    unit.setflags(write=False)
    return unit


def finite(value: object, name: str, error: type[IKError]) -> float:
    """Return the value as a float if it is a finite number, or raise `error`."""
    return _number(value, name, 'a finite number', error)


def positive(value: object, name: str, error: type[IKError]) -> float:
    """Return the value as a float if it is a finite number above zero, or raise `error`."""
    return _number(value, name, 'a positive finite number', error, math.ulp(0.0))


def non_negative(value: object, name: str, error: type[IKError], upper: float = _LARGEST) -> float:
    """Return the value as a float if it is a number from 0 to `upper`, or raise `error`."""
    wanted = 'a number >= 0' if upper == math.inf else 'a finite number >= 0'
    return _number(value, name, wanted, error, 0.0, upper)


def between(value: object, name: str, lower: float, upper: float, error: type[IKError]) -> float:
    """Return the value as a float if it is a number from `lower` to `upper`, or raise `error`."""
    return _number(value, name, f'a number from {lower:g} to {upper:g}', error, lower, upper)


def whole(value: object, name: str, error: type[IKError], lower: int = 1,
          upper: float = 1e9) -> int:
    """
    Return the value as an int if it is a whole number from `lower` to `upper`, or raise `error`.

    The default of `upper` is far below 2**63, where integers in compiled code overflow.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) \
            or value < lower:
        raise error(f'{name} must be a whole number >= {lower}, not {value!r}')
    if value > upper:
        raise error(f'{name} must be at most {upper:g}')
    return int(value)


def one_of(value: object, name: str, valid: Sequence[str], error: type[IKError]) -> str:
    """Return the value if it is one of the `valid` texts, or raise `error`."""
    if not isinstance(value, str) or value not in valid:
        raise error(f'{name} is {value!r}; valid: {", ".join(valid)}')
    return value


def flag(value: object, name: str, error: type[IKError]) -> bool:
    """Return the value as a bool if it is True or False, or raise `error`."""
    if not isinstance(value, (bool, np.bool_)):
        raise error(f'{name} must be True or False, not {value!r}')
    return bool(value)


def look_up(table: Mapping[str, T], name: str,
            error: Callable[[str, tuple[str, ...]], UnknownNameError]) -> T:
    """Return table[name], or raise `error` for an unknown name."""
    try:
        return table[name]
    except (KeyError, TypeError):
        raise error(name, tuple(table)) from None


def check_cancel(value: object, error: type[IKError]) -> None:
    """Raise `error` unless the value is a valid `cancel`: an event, a callable or None."""
    if not (value is None or callable(value) or hasattr(value, 'is_set')):
        raise error(f'cancel must be an event or a callable, not {value!r}')


def as_list(value: Any) -> list[Any] | None:
    """Return the items of a list, tuple, set or array; None for a string or a single value."""
    if isinstance(value, (str, bytes)):
        return None
    try:
        return list(value)
    except TypeError:
        return None


def entries(values: object, name: str, error: type[IKError]) -> ItemsView[Any, Any]:
    """Return the (key, value) pairs of a mapping, no pairs for None; raise `error` otherwise."""
    if not isinstance(values, Mapping | None):
        raise error(f'{name} must be a mapping from names, not {values!r}')
    return (values or {}).items()


def text(value: object, name: str, error: type[IKError]) -> str:
    """Return the value if it is a non-empty text, or raise `error`."""
    if not isinstance(value, str) or not value:
        raise error(f'{name} must be a non-empty text, not {value!r}')
    return value


def instance(value: object, kind: type, name: str, error: type[IKError]) -> Any:
    """Return the value if it is an instance of the class `kind`, or raise `error`."""
    if not isinstance(value, kind):
        # the `example` of some classes shows how to make an instance
        raise error(f'{name} must be an instance of {kind.__name__}'
                    f'{getattr(kind, "example", "")}, not {value!r}')
    return value


def instances(value: object, kind: type, name: str, error: type[IKError]) -> list[Any]:
    """Return the items of a list if all are instances of `kind`, or raise `error`."""
    items = as_list(value)
    if items is None or not all(isinstance(item, kind) for item in items):
        raise error(f'{name} must be a list of {kind.__name__}, not {value!r}')
    return items


def distinct_names(value: object, what: str, error: type[IKError]) -> tuple[str, ...]:
    """Return a non-empty list of distinct names as a tuple, or raise `error`."""
    names = as_list(value)
    if not names or not all(isinstance(name, str) for name in names):
        raise error(f'{what} must be a list of names, not {value!r}')
    for name in names:
        if names.count(name) > 1:
            raise error(f"{what} has '{name}' twice")
    return tuple(names)


def _number(value: object, name: str, wanted: str, error: type[IKError],
            lower: float = -_LARGEST, upper: float = _LARGEST) -> float:
    number = math.nan
    if isinstance(value, (int, float, np.integer, np.floating)) \
            and not isinstance(value, (bool, np.bool_)):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    # written as `not ...` to refuse NaN as well
    if not lower <= number <= upper:
        raise error(f'{name} must be {wanted}, not {value!r}')
    return number
