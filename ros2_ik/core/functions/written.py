"""Readers that convert values from messages and files into the fields of functions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core import checks
from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.poses import quaternion_rotation


class FieldValue(NamedTuple):
    """
    A field as messages and files write it: numbers, names, or one number per name.

    The numbers of a matrix are written row by row; `columns` is the length of a row (0: unknown).
    """

    numbers: Sequence[float] = ()
    names: Sequence[str] = ()
    columns: int = 0

    @property
    def empty(self) -> bool:
        """True if nothing is written; the field then has its default."""
        return not (len(self.numbers) or self.names)

    def __str__(self) -> str:
        parts = [f'{len(values)} {what}' if len(values) > 3 else str(list(values))
                 for values, what in ((self.numbers, 'numbers'), (self.names, 'names'))
                 if len(values)]
        return ' and '.join(parts) or 'nothing'


def field_value(value: object) -> FieldValue:
    """
    Convert a plain value from YAML or Python into a FieldValue.

    Valid are a number, a text, a boolean, a list of these, a list of rows of numbers, and a
    mapping from names to numbers. Raises InvalidConstraintError for other values.
    """
    if isinstance(value, str):
        return FieldValue([], [value])
    if isinstance(value, Mapping):
        return FieldValue(_numbers(list(value.values()), value), [str(name) for name in value])
    # a list: of texts, of rows, or of numbers
    items = checks.listed(value)
    if items is None:
        return FieldValue(_numbers([value], value), [])
    if items and all(isinstance(item, str) for item in items):
        return FieldValue([], items)
    rows = [checks.listed(item) for item in items]
    if items and None not in rows:
        widths = {len(row) for row in rows if row is not None}
        if len(widths) > 1:
            raise InvalidConstraintError(f'the rows have {sorted(widths)} numbers; valid: rows of '
                                         'equal length')
        return FieldValue(_numbers([item for row in rows for item in row or ()], value), [],
                          widths.pop())
    return FieldValue(_numbers(items, value), [])


def _numbers(items: list[Any], value: object) -> list[float]:
    try:
        return [float(item) for item in items]
    except (TypeError, ValueError, OverflowError):
        raise InvalidConstraintError(f'{value!r} is none of: a number, a text, true or false, a '
                                     'list of these, rows of numbers, numbers by name') from None


def text(given: FieldValue) -> str | None:
    return given.names[0] if len(given.names) == 1 and not len(given.numbers) else None


def texts(given: FieldValue) -> list[str] | None:
    return None if len(given.numbers) else list(given.names)


def row(given: FieldValue) -> list[float] | None:
    return None if given.names else list(given.numbers)


def number(given: FieldValue) -> float | None:
    numbers = row(given)
    return numbers[0] if numbers and len(numbers) == 1 else None


def row_or_number(given: FieldValue) -> float | list[float] | None:
    one = number(given)
    return row(given) if one is None else one


def whole(given: FieldValue) -> int | None:
    one = number(given)
    return int(one) if one is not None and one.is_integer() else None


def flag(given: FieldValue) -> bool | None:
    one = number(given)
    return bool(one) if one in (0, 1) else None


def rows(given: FieldValue, usual: int = 0) -> list[float] | Array | None:
    """Read a matrix with the given columns, else `usual`; a list of numbers if both are 0."""
    numbers, columns = row(given), given.columns or usual
    if numbers is None or not columns:
        return numbers
    if len(numbers) % columns:
        raise InvalidConstraintError(f'{len(numbers)} numbers do not make rows of {columns}')
    return np.reshape(np.array(numbers), (-1, columns))


def rotation(given: FieldValue) -> pin.SE3 | None:
    """Read a rotation from roll pitch yaw, a quaternion x y z w, or a pose (6 or 7 numbers)."""
    numbers = row(given)
    if numbers is None or len(numbers) not in (3, 4, 6, 7):
        return None
    return _placed([0.0, 0.0, 0.0], numbers[-3:] if len(numbers) in (3, 6) else numbers[-4:])


def placement(given: FieldValue) -> pin.SE3 | None:
    """Read a placement from a point, optionally with roll pitch yaw or a quaternion x y z w."""
    numbers = row(given)
    if numbers is None or len(numbers) not in (3, 6, 7):
        return None
    return _placed(numbers[:3], numbers[3:] or [0.0, 0.0, 0.0])


def _placed(point: list[float], turn: list[float]) -> pin.SE3:
    """Return the SE3 with a position and either roll pitch yaw (as in URDF) or a quaternion."""
    if not np.isfinite(point + turn).all():
        raise InvalidConstraintError(f'the numbers {point + turn} are not all finite')
    rotation = (pin.rpy.rpyToMatrix(np.array(turn)) if len(turn) == 3
                else quaternion_rotation(turn, 'the quaternion', InvalidConstraintError))
    return pin.SE3(rotation, np.array(point))
