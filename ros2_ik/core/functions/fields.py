"""Types of the fields of functions: what may be written, and how it is checked and kept."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints, TypeAlias

import numpy as np
import pinocchio as pin

from ros2_ik.core import checks
from ros2_ik.core.arrays import Array, Pose
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.placement import as_placement, FARTHEST

Check: TypeAlias = Callable[[Any, str], Any]


@lru_cache(maxsize=256)
def checks_of(function: type) -> tuple[tuple[str, Check], ...]:
    """Return the names of the fields that are checked, each with its check."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, hint in hints.items():
        for part in (hint, *get_args(hint)):
            if get_origin(part) is Annotated:
                found.append((name, get_args(part)[1]))
                break
    return tuple(found)


def _point(value: Any, name: str) -> Array:
    return checks.vector(value, name, 3, InvalidConstraintError)


def _near_point(value: Any, name: str) -> Array:
    return checks.vector(value, name, 3, InvalidConstraintError, FARTHEST)


def _axis(value: Any, name: str) -> Array:
    return checks.direction(value, name, InvalidConstraintError)


def _axes(value: Any, name: str) -> str:
    checks.axis_rows(value, InvalidConstraintError)
    return str(value)


def _points(value: Any, name: str) -> Array:
    return checks.matrix(value, name, 3, InvalidConstraintError)


def _placement(value: Any, name: str) -> Any:
    return None if value is None else as_placement(value, name, InvalidConstraintError)


def as_rotation(rotation: Pose, name: str) -> Array:
    """
    Take (3, 3), (4, 4), a pinocchio.SE3 or None (no rotation) as an exact rotation, read-only.

    Raises InvalidConstraintError when it is further than 1e-4 from a rotation.
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
    R = np.array(as_placement(rotation, name, InvalidConstraintError).rotation)
    R.setflags(write=False)
    return R


Numbers: TypeAlias = Sequence[float] | Array
Point = Annotated[Numbers, _point]         # (3,)
NearPoint = Annotated[Numbers, _near_point]    # (3,), up to 1e9 m
Axis = Annotated[Numbers, _axis]           # kept at length 1; not zero
Points = Annotated[Sequence[Sequence[float]] | Array, _points]      # (n, 3)
Rotation = Annotated[Pose, as_rotation]    # of a pose the rotation counts; None: no turn
Placement = Annotated[Pose, _placement]    # kept as pinocchio.SE3, or None
Axes = Annotated[str, _axes]               # letters of 'xyz', a row for each
