"""Base class and registry of shapes, and the checks of their dimensions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property, partial
from typing import ClassVar
from weakref import WeakValueDictionary

import coal
import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import between, matrix, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import digest
from ros2_ik.core.poses import MAX_DISTANCE

MIN_LENGTH = 1e-9     # smallest length of a shape [m]
_KINDS: dict[str, type['Shape']] = {}


def _lengths(value: object, name: str) -> Array:
    lengths = vector(value, name, 3, InvalidSceneError, MAX_DISTANCE)
    if lengths.min() < MIN_LENGTH:
        raise InvalidSceneError(f'{name} must be 3 positive numbers, not {value!r}')
    return lengths


# Unpickled shapes by digest: the versions of a scene that arrive from another process share their
# shapes, because building the tree of a mesh of 20,000 triangles takes 70 ms.
_shapes_by_digest: 'WeakValueDictionary[str, Shape]' = WeakValueDictionary()


def _shape_from_pickle(shape: 'type[Shape]', digest: str, values: tuple[object, ...]) -> 'Shape':
    """Return the shape in memory with this digest, or a new shape."""
    return _shapes_by_digest.get(digest) or _shapes_by_digest.setdefault(digest, shape(*values))


_length = partial(between, lower=MIN_LENGTH, upper=MAX_DISTANCE, error=InvalidSceneError)
_points = partial(matrix, columns=3, error=InvalidSceneError, maximum=MAX_DISTANCE)
# checks of the shapes' fields, by field name
_CHECKS: dict[str, Callable[[object, str], object]] = {
    'radius': _length, 'length': _length, 'resolution': _length, 'size': _lengths,
    'points': _points, 'vertices': _points}


class Shape(ABC):
    """
    Base class of shapes, which are frozen dataclasses.

    `class Box(Shape, kind='box')` registers the class under 'box', its name in scene files.
    Fields with a name in _CHECKS are checked when a shape is created. Raises InvalidSceneError
    for invalid dimensions.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = '') -> None:
        if kind:
            cls.kind, _KINDS[kind] = kind, cls

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            if name in vars(self):
                self._set(**{name: check(getattr(self, name), self.field_label(name))})

    def field_label(self, field: str) -> str:
        """Return the name of a field for error messages, such as 'the size of a box'."""
        return f'the {field} of a{"n" * (self.kind[0] in "aeiou")} {self.kind.replace("_", " ")}'

    @property
    @abstractmethod
    def geometry(self) -> coal.CollisionGeometry:
        """The shape as a coal geometry."""

    @abstractmethod
    def surface(self) -> tuple[Array, Indices]:
        """Return vertices (n, 3) [m] and triangles (m, 3) to draw; crops unbounded shapes."""

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]

    @cached_property
    def digest(self) -> str:
        """Digest of kind and field values; the digest is the same in every process."""
        return digest(self.kind, *(part for value in self._values() for part in (
            (repr(value.shape), value.tobytes()) if isinstance(value, np.ndarray)
            else (repr(value),))))

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Shape) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[object, ...]:
        # pickle only the fields, because cached coal geometries cannot be pickled
        return _shape_from_pickle, (type(self), self.digest, self._values())

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def trimesh_surface(kind: str, *lengths: object, **options: object) -> tuple[Array, Indices]:
    """Return vertices and triangles of `trimesh.creation.<kind>`, in trimesh's frame."""
    import trimesh  # imported here: takes as long to import as ros2_ik.core
    mesh = getattr(trimesh.creation, kind)(*lengths, **options)
    return np.array(mesh.vertices), np.array(mesh.faces, dtype=np.intp)


def shape_kinds() -> dict[str, type[Shape]]:
    """Return all shape classes by kind."""
    return dict(_KINDS)
