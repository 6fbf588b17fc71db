"""Field types of kinematic functions: reading of written values, checks, stored form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, MISSING
from functools import lru_cache, partial
from itertools import permutations
from types import MappingProxyType
from typing import Annotated, get_args, get_origin, get_type_hints, NamedTuple, TypeAlias

import numpy as np
import pinocchio as pin

from ros2_ik.core import checks
from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions import written
from ros2_ik.core.functions.written import FieldValue
from ros2_ik.core.poses import as_placement, FARTHEST

MOST_ROWS = 1000   # largest number of rows of one function
_AXES = [''.join(letters) for count in (1, 2, 3) for letters in permutations('xyz', count)]


class FieldType(NamedTuple):
    """
    Type of a function's field; `form` describes valid written values in error messages.

    `read` converts a written value into the constructor's argument, or None if it does not fit.
    `check` converts the argument into the stored value, or raises InvalidConstraintError. A field
    that is not written gets its default, else `absent`; with neither it is required. A `supplied`
    field, such as a collision checker, cannot be written: the caller passes the object.
    """

    form: str
    read: Callable[[FieldValue], object]
    check: Callable[[object, str], object] = lambda value, name: value
    absent: object = MISSING
    supplied: bool = False

    def argument(self, given: FieldValue, name: str) -> object:
        """Convert a written value into its argument; raises InvalidConstraintError."""
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
    def needed(self) -> bool:
        """True if the field must be written."""
        return self.unwritten is MISSING

    @property
    def unwritten(self) -> object:
        """The argument for a field that is not written; MISSING if the field must be written."""
        if self.default is not MISSING:
            return self.default
        return None if self.optional else self.type.absent

    def kept(self, value: object, name: str) -> object:
        """Return the stored value of an argument; raises InvalidConstraintError."""
        return None if value is None and self.optional else self.type.check(value, name)


@lru_cache(maxsize=256)
def spec_fields(function: type) -> Mapping[str, SpecField]:
    """Return the fields of a dataclass that have a FieldType, by name; {} for other classes."""
    if not hasattr(function, '__dataclass_fields__'):
        return MappingProxyType({})
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for field in fields(function):
        # Annotated[...] itself, or one member of the union Annotated[...] | None
        hint = hints[field.name]
        for part in (hint, *get_args(hint)):
            if get_origin(part) is Annotated and isinstance(get_args(part)[1], FieldType):
                found[field.name] = SpecField(get_args(part)[1], field.default, part is not hint)
                break
    return MappingProxyType(found)


# -- checks of arguments ------------------------------------------------------------------------

def _axes(value: object, name: str) -> str:
    if not isinstance(value, str) or value not in _AXES:
        raise InvalidConstraintError(f"{name} is {value!r}; valid: letters of 'xyz', each once")
    return value


def _matrix(value: object, name: str) -> Array:
    given = checks.floats(value, name, 'rows of numbers', InvalidConstraintError)
    return checks.matrix(given[None] if given.ndim == 1 else given, name, None,
                         InvalidConstraintError)


def _row_numbers(value: object, name: str) -> Array:
    # one number for all rows, or one per row; the count of rows is checked by the function
    array = finite_numbers(value, name)
    if array.ndim > 1:
        raise InvalidConstraintError(f'{name} must be one finite number, or one a row, not '
                                     f'{value!r}')
    return array


def finite_numbers(value: object, name: str) -> Array:
    """Return a copy of an array of finite numbers; raises InvalidConstraintError otherwise."""
    array = checks.floats(value, name, 'finite numbers', InvalidConstraintError)
    if not np.isfinite(array).all():
        raise InvalidConstraintError(f'{name} must be finite numbers, not {value!r}')
    return array


def as_rotation(rotation: Pose, name: str) -> Array:
    """
    Return the rotation (3, 3), orthonormal and read-only, of a matrix, a pose or None.

    None is the identity. Raises InvalidConstraintError for a matrix that differs by more than 1e-4
    from a rotation.
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
    # the nearest rotation: the columns of the input may be off by rounding
    R = np.array(as_placement(rotation, name, InvalidConstraintError).rotation)
    R.setflags(write=False)
    return R


def choice(*valid: str) -> FieldType:
    """Return the FieldType of a string field whose value must be one of `valid`."""
    return FieldType(
        ' | '.join(valid), written.text,
        lambda value, name: checks.one_of(value, name, valid, InvalidConstraintError))


Numbers: TypeAlias = Sequence[float] | Array
ORIGIN = (0.0, 0.0, 0.0)
_ERROR = {'error': InvalidConstraintError}
Frame = Annotated[str, FieldType('a link or another frame', written.text)]
Body = Annotated[str, FieldType('a link or an object of the scene', written.text)]
Names = Annotated[Sequence[str], FieldType(
    'names', written.texts, partial(checks.distinct_names, **_ERROR))]
# (3,), up to 1e6 m; the default is the origin
Point = Annotated[Numbers, FieldType(
    'x y z [m]', written.row, partial(checks.vector, size=3, most=FARTHEST, **_ERROR), ORIGIN)]
# (3,), stored as a unit vector
Axis = Annotated[Numbers, FieldType(
    'x y z, not zero', written.row, partial(checks.direction, **_ERROR))]
# (n, 3), up to 1e6 m
Points = Annotated[Sequence[Sequence[float]] | Array, FieldType(
    'x y z [m] of each', partial(written.rows, usual=3),
    partial(checks.matrix, columns=3, most=FARTHEST, **_ERROR))]
# (m, n); (n,) is one row
Matrix = Annotated[Sequence[float] | Sequence[Sequence[float]] | Array,
                   FieldType('rows of numbers', written.rows, _matrix)]
RowNumbers = Annotated[float | Sequence[float] | Array,
                       FieldType('a number, or one a row', written.row_or_number, _row_numbers)]
# (3, 3), or a pose whose rotation is used; None: the identity
Rotation = Annotated[Pose, FieldType(
    'roll pitch yaw [rad], a quaternion x y z w, or a pose', written.rotation, as_rotation)]
# stored as pinocchio.SE3 or None
Placement = Annotated[Pose, FieldType(
    'x y z [m], and roll pitch yaw [rad] or a quaternion x y z w', written.placement,
    lambda value, name: None if value is None else as_placement(
        value, name, InvalidConstraintError))]
# one row of the function for each letter
Axes = Annotated[str, FieldType("letters of 'xyz'", written.text, _axes)]
Flag = Annotated[bool, FieldType('true or false', written.flag, lambda value, _: bool(value))]
Number = Annotated[float, FieldType(
    'a number', written.number, partial(checks.finite, **_ERROR))]
Length = Annotated[float, FieldType(
    'a number above 0 [m]', written.number, partial(checks.positive, **_ERROR))]
RowCount = Annotated[int, FieldType(
    f'a whole number from 1 to {MOST_ROWS}', written.whole,
    partial(checks.whole, most=MOST_ROWS, **_ERROR))]
