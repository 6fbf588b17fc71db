"""The base of all shapes, their registry, and the types of their fields."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property, lru_cache
from typing import Annotated, ClassVar, get_origin, get_type_hints, TYPE_CHECKING, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import between, matrix, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import digest
from ros2_ik.core.poses import FARTHEST
from ros2_ik.core.signatures import show_plain_types

if TYPE_CHECKING:
    import coal

SMALLEST = 1e-9     # [m]


def _length(value: object, name: str) -> float:
    return between(value, name, SMALLEST, FARTHEST, InvalidSceneError)


def _lengths(value: object, name: str) -> Array:
    lengths = vector(value, name, 3, InvalidSceneError, FARTHEST)
    if lengths.min() < SMALLEST:
        raise InvalidSceneError(f'{name} must be 3 positive numbers, not {value!r}')
    return lengths


def _points(value: object, name: str) -> Array:
    return matrix(value, name, 3, InvalidSceneError, FARTHEST)


Length = Annotated[float, _length]      # [m]
Lengths = Annotated[Array, _lengths]    # (3,) [m]
Points = Annotated[Array, _points]      # (n, 3) [m]


class Shape(ABC):
    """
    A solid, a frozen dataclass; `kind` is the name it is registered under.

    Fields of the types above are checked. Raises InvalidSceneError when made of dimensions that
    make no sense.
    """

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for name, check in _checks(type(self)).items():
            self._set(**{name: check(getattr(self, name), self.called(name))})

    def called(self, field: str) -> str:
        """Return what errors call a field: 'the size of a box'."""
        return f'the {field} of a{"n" * (self.kind[0] in "aeiou")} {self.kind.replace("_", " ")}'

    @property
    @abstractmethod
    def geometry(self) -> 'coal.CollisionGeometry':
        """The shape as one object of coal, made once."""

    @abstractmethod
    def surface(self) -> tuple[Array, Indices]:
        """Return vertices (n, 3) and triangles (m, 3) to draw; a part of an infinite shape."""

    def _values(self) -> tuple[object, ...]:
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

    def __reduce__(self) -> tuple[object, ...]:   # coal's objects stay behind
        return type(self), self._values()

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@lru_cache(maxsize=64)
def _checks(shape: type[Shape]) -> dict[str, Callable[[object, str], object]]:
    hints = get_type_hints(shape, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()
            if get_origin(hint) is Annotated}


def created(kind: str, *lengths: object, **options: object) -> tuple[Array, Indices]:
    """Return vertices and triangles of what `trimesh.creation` can make, its own frame's."""
    import trimesh  # takes as long as ros2_ik.core
    mesh = getattr(trimesh.creation, kind)(*lengths, **options)
    return np.array(mesh.vertices), np.array(mesh.faces, dtype=np.intp)


_KINDS: dict[str, type[Shape]] = {}
S = TypeVar('S', bound=type[Shape])


def register_shape(kind: str) -> Callable[[S], S]:
    """Enter a shape under the name of its kind."""
    def enter(shape: S) -> S:
        shape.kind = kind
        show_plain_types(shape)
        _KINDS[kind] = shape
        return shape
    return enter


def shape_kinds() -> dict[str, type[Shape]]:
    """All shapes by the name of their kind."""
    return dict(_KINDS)
