"""Field types of kinematic functions: read values from files and messages, check arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, MISSING
from functools import lru_cache, partial
from itertools import permutations
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin, get_type_hints, NamedTuple, TypeAlias

import numpy as np
import pinocchio as pin

from ros2_ik.core import checks
from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.poses import as_placement, MAX_DISTANCE, quaternion_pose

MAX_ROWS = 1000   # largest number of rows of one function
_AXES = [''.join(letters) for count in (1, 2, 3) for letters in permutations('xyz', count)]


class FieldValue(NamedTuple):
    """
    A field's value as written in a file or message: numbers, names, or one number per name.

    The numbers of a matrix are written row by row; `columns` is the length of a row (0: unknown).
    """

    numbers: Sequence[float] = ()
    names: Sequence[str] = ()
    columns: int = 0

    @property
    def empty(self) -> bool:
        """True if no value is written; the field then counts as absent."""
        return not (len(self.numbers) or self.names)

    def __str__(self) -> str:
        parts = [f'{len(values)} {what}' if len(values) > 3 else str(list(values))
                 for values, what in ((self.numbers, 'numbers'), (self.names, 'names'))
                 if len(values)]
        return ' and '.join(parts) or 'nothing'


def field_value(value: object) -> FieldValue:
    """
    Convert a plain value from YAML or Python into a FieldValue.

    Valid values are a number, a string, a boolean, a list of one of these types, rows of numbers,
    and a mapping from names to numbers. Raises InvalidConstraintError for other values.
    """
    if isinstance(value, str):
        return FieldValue([], [value])
    if isinstance(value, Mapping):
        return FieldValue(_numbers(list(value.values()), value), [str(name) for name in value])
    # a single number, or a list of strings, of rows or of numbers
    items = checks.as_list(value)
    if items is None:
        return FieldValue(_numbers([value], value), [])
    if items and all(isinstance(item, str) for item in items):
        return FieldValue([], items)
    rows = [checks.as_list(item) for item in items]
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


class FieldType(NamedTuple):
    """
    Type of a function's field; `form` describes valid written values in error messages.

    `read` converts a written value into the constructor's argument; it returns None or raises
    InvalidConstraintError if the value is invalid. `check` converts the argument into the stored
    value or raises InvalidConstraintError. If nothing is written for a field, the argument is the
    default, else None (if valid), else `absent`; without these, the field is required. A
    `supplied` field, such as a collision checker, cannot be written: the caller passes the object.
    """

    form: str
    read: Callable[[FieldValue], object]
    check: Callable[[object, str], object] = lambda value, name: value
    absent: object = MISSING
    supplied: bool = False

    def argument(self, given: FieldValue, name: str) -> object:
        """Read the constructor's argument; raises InvalidConstraintError for an invalid value."""
        try:
            found = self.read(given)
        except InvalidConstraintError as error:
            raise InvalidConstraintError(f'{name}: {error}') from None
        if found is None:
            raise InvalidConstraintError(f'{name} takes {self.form}, not {given}')
        return found


class SpecField(NamedTuple):
    """A field of a function class: type, default (MISSING: none), and whether None is valid."""

    type: FieldType
    default: object
    optional: bool

    @property
    def default_argument(self) -> object:
        """The argument for a field without a written value; MISSING if the field is required."""
        if self.default is not MISSING:
            return self.default
        return None if self.optional else self.type.absent

    def checked(self, value: object, name: str) -> object:
        """Check an argument and return the value to store; raises InvalidConstraintError."""
        return None if value is None and self.optional else self.type.check(value, name)


@lru_cache(maxsize=256)
def spec_fields(function: type) -> Mapping[str, SpecField]:
    """Return the fields of a dataclass that have a FieldType, by name; {} for other classes."""
    if not hasattr(function, '__dataclass_fields__'):
        return MappingProxyType({})
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for field in fields(function):
        # the hint is Annotated[...] or a union Annotated[...] | None
        hint = hints[field.name]
        for part in (hint, *get_args(hint)):
            if get_origin(part) is Annotated and isinstance(get_args(part)[1], FieldType):
                found[field.name] = SpecField(get_args(part)[1], field.default, part is not hint)
                break
    return MappingProxyType(found)


# -- readers of written values ------------------------------------------------------------------

def read_text(given: FieldValue) -> str | None:
    return given.names[0] if len(given.names) == 1 and not len(given.numbers) else None


def read_texts(given: FieldValue) -> list[str] | None:
    return None if len(given.numbers) else list(given.names)


def read_row(given: FieldValue) -> list[float] | None:
    return None if given.names else list(given.numbers)


def read_number(given: FieldValue) -> float | None:
    numbers = read_row(given)
    return numbers[0] if numbers and len(numbers) == 1 else None


def read_row_or_number(given: FieldValue) -> float | list[float] | None:
    one = read_number(given)
    return read_row(given) if one is None else one


def read_whole(given: FieldValue) -> int | None:
    one = read_number(given)
    return int(one) if one is not None and one.is_integer() else None


def read_flag(given: FieldValue) -> bool | None:
    one = read_number(given)
    return bool(one) if one in (0, 1) else None


def read_rows(given: FieldValue, usual: int = 0) -> list[float] | Array | None:
    """Return an array with `given.columns` columns (if 0: `usual`); if both are 0, a flat list."""
    numbers, columns = read_row(given), given.columns or usual
    if numbers is None or not columns:
        return numbers
    if len(numbers) % columns:
        raise InvalidConstraintError(f'{len(numbers)} numbers do not make rows of {columns}')
    return np.reshape(np.array(numbers), (-1, columns))


def read_rotation(given: FieldValue) -> pin.SE3 | None:
    """Read a rotation from roll pitch yaw, a quaternion x y z w, or a pose (6 or 7 numbers)."""
    numbers = read_row(given)
    if numbers is None or len(numbers) not in (3, 4, 6, 7):
        return None
    return _placed([0.0, 0.0, 0.0], numbers[-3:] if len(numbers) in (3, 6) else numbers[-4:])


def read_placement(given: FieldValue) -> pin.SE3 | None:
    """Read a placement: x y z, optionally followed by roll pitch yaw or a quaternion x y z w."""
    numbers = read_row(given)
    if numbers is None or len(numbers) not in (3, 6, 7):
        return None
    return _placed(numbers[:3], numbers[3:] or [0.0, 0.0, 0.0])


def _placed(point: list[float], turn: list[float]) -> pin.SE3:
    """Return the SE3 with a position and an orientation: roll pitch yaw (URDF) or quaternion."""
    if not np.isfinite(point + turn).all():
        raise InvalidConstraintError(f'the numbers {point + turn} are not all finite')
    if len(turn) == 3:
        return pin.SE3(pin.rpy.rpyToMatrix(np.array(turn)), np.array(point))
    return quaternion_pose(point + turn, 'the quaternion', InvalidConstraintError)


# -- checks of arguments ------------------------------------------------------------------------

def _matrix(value: object, name: str) -> Array:
    given = checks.floats(value, name, 'rows of numbers', InvalidConstraintError)
    return checks.matrix(given[None] if given.ndim == 1 else given, name, None,
                         InvalidConstraintError)


def as_rotation(rotation: Pose, name: str) -> Array:
    """
    Return a rotation, given as a matrix or a pose, as an orthonormal, read-only array (3, 3).

    None is the identity. Raises InvalidConstraintError for a matrix that differs from a
    rotation by more than 1e-4.
    """
    wanted = 'a 3x3 or 4x4 array or a pinocchio.SE3'
    if rotation is None:
        rotation = np.eye(3)
    if not isinstance(rotation, pin.SE3):
        given = checks.floats(rotation, name, wanted, InvalidConstraintError)
        if given.shape not in ((3, 3), (4, 4)):
            raise InvalidConstraintError(f'{name} must be {wanted}, not of shape {given.shape}')
        rotation = np.eye(4)
        rotation[:len(given), :len(given)] = given
    # made orthonormal: the input may have rounding errors
    R = np.array(as_placement(rotation, name, InvalidConstraintError).rotation)
    R.setflags(write=False)
    return R


def choice(*valid: str) -> FieldType:
    """Return the FieldType of a string field whose value must be one of `valid`."""
    return FieldType(
        ' | '.join(valid), read_text,
        lambda value, name: checks.one_of(value, name, valid, InvalidConstraintError))


Numbers: TypeAlias = Sequence[float] | Array
ORIGIN = (0.0, 0.0, 0.0)
_ERROR = {'error': InvalidConstraintError}
Frame = Annotated[str, FieldType('a link or another frame', read_text)]
Body = Annotated[str, FieldType('a link or an object of the scene', read_text)]
Names = Annotated[Sequence[str], FieldType(
    'names', read_texts, partial(checks.distinct_names, **_ERROR))]
# (3,), coordinates up to 1e6 m; the default is the origin
Point = Annotated[Numbers, FieldType(
    'x y z [m]', read_row, partial(checks.vector, size=3, maximum=MAX_DISTANCE, **_ERROR), ORIGIN)]
# (3,), stored as a unit vector
Axis = Annotated[Numbers, FieldType(
    'x y z, not zero', read_row, partial(checks.direction, **_ERROR))]
# (n, 3), coordinates up to 1e6 m
Points = Annotated[Sequence[Sequence[float]] | Array, FieldType(
    'x y z [m] of each point', partial(read_rows, usual=3),
    partial(checks.matrix, columns=3, maximum=MAX_DISTANCE, **_ERROR))]
# (m, n); (n,) is one row
Matrix = Annotated[Sequence[float] | Sequence[Sequence[float]] | Array,
                   FieldType('rows of numbers', read_rows, _matrix)]
RowNumbers = Annotated[float | Sequence[float] | Array,
                       FieldType('a number, or one per row', read_row_or_number,
                                 partial(checks.row_numbers, **_ERROR))]
# (3, 3), or a pose whose rotation is used; None: the identity
Rotation = Annotated[Pose, FieldType(
    'roll pitch yaw [rad], a quaternion x y z w, or a pose', read_rotation, as_rotation)]
# stored as pinocchio.SE3 or None
Placement = Annotated[Pose, FieldType(
    'x y z [m], and roll pitch yaw [rad] or a quaternion x y z w', read_placement,
    lambda value, name: None if value is None else as_placement(
        value, name, InvalidConstraintError))]
# letters, such as xz: the function has one row for each
Axes = Annotated[str, choice(*_AXES)]
Flag = Annotated[bool, FieldType('true or false', read_flag, partial(checks.flag, **_ERROR))]
Number = Annotated[float, FieldType('a number', read_number, partial(checks.finite, **_ERROR))]
Length = Annotated[float, FieldType(
    'a number above 0 [m]', read_number, partial(checks.positive, **_ERROR))]
RowCount = Annotated[int, FieldType(
    f'a whole number from 1 to {MAX_ROWS}', read_whole,
    partial(checks.whole, upper=MAX_ROWS, **_ERROR))]
