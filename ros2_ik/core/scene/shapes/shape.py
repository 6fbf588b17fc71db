"""The base of all shapes, their registry, and checks of their dimensions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from reprlib import repr as brief
from typing import Any, ClassVar, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import floats, positive, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import digest

FARTHEST = 1e6       # m; beyond it a unit is wrong, or everything is
SMALLEST = 1e-9


class Shape(ABC):
    """
    A solid. `kind` is the name it is registered under, `warnings` what a user should know of it.

    Raises InvalidSceneError when made of dimensions that make no sense.
    """

    kind: ClassVar[str]

    @property
    def warnings(self) -> tuple[str, ...]:
        return ()

    @property
    @abstractmethod
    def geometry(self) -> Any:
        """The shape as one object of coal, made once."""

    def parts(self) -> tuple[Any, ...]:
        """Return coal's objects, in the shape's frame, that make it up."""
        return (self.geometry,)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]

    @cached_property
    def digest(self) -> str:
        """Digest of kind and dimensions, the same in every process."""
        return digest(self.kind, *(part for value in self._values() for part in (
            (repr(value.shape), value.tobytes()) if isinstance(value, np.ndarray)
            else (repr(value),))))

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Shape) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:   # coal's objects stay behind
        return type(self), self._values()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


_KINDS: dict[str, type[Shape]] = {}
S = TypeVar('S', bound=type[Shape])


def register_shape(kind: str) -> Callable[[S], S]:
    """Enter a shape under the name of its kind."""
    def enter(shape: S) -> S:
        shape.kind = kind
        _KINDS[kind] = shape
        return shape
    return enter


def shape_kinds() -> dict[str, type[Shape]]:
    """All shapes by the name of their kind."""
    return dict(_KINDS)


def bounded(geometry: Any) -> Any:
    """Compute the box (AABB) of one of coal's objects, and return the object."""
    geometry.computeLocalAABB()
    return geometry


def checked_length(value: Any, name: str) -> float:
    number = positive(value, name, InvalidSceneError)
    if number < SMALLEST:
        raise InvalidSceneError(f'{name} must be at least {SMALLEST:g} m, not {number:g}')
    return float(within(np.array(number), name))


def checked_lengths(value: Any, name: str) -> Array:
    array = vector(value, name, 3, InvalidSceneError)
    if array.min() < SMALLEST:
        raise InvalidSceneError(f'{name} must be 3 positive numbers, not {value!r}')
    return within(array, name)


def within(values: Array, name: str) -> Array:
    """Return finite numbers, read-only; raises InvalidSceneError above 1e6 m."""
    if np.abs(values).max() > FARTHEST:
        raise InvalidSceneError(f'{name} reaches {np.abs(values).max():g} m; at most '
                                f'{FARTHEST:g} is taken (is the unit right?)')
    values.setflags(write=False)
    return values


def number_rows(value: Any, name: str, columns: int | None) -> Array:
    """Check many numbers, not all of which an error names."""
    wanted = f'rows of {columns or "as many"} finite numbers'
    try:
        array = floats(value, name, wanted, InvalidSceneError)
    except InvalidSceneError:
        array = np.zeros(0)
    if array.ndim != 2 or not array.size or columns not in (None, array.shape[1]) \
            or not np.isfinite(array).all():
        raise InvalidSceneError(f'{name} must be {wanted}, at least one, not {brief(value)}')
    return within(array, name)


def points_of(value: Any, name: str) -> Array:
    return number_rows(value, name, 3)
