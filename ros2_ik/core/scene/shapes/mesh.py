"""Triangles, and what stands for them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import floats
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene.convex_pieces import convex_pieces, key_of, pieces_are_known
from ros2_ik.core.scene.meshes import cached_hull, Hull, read_triangles
from ros2_ik.core.scene.shapes.hulled_shape import HulledShape
from ros2_ik.core.scene.shapes.shape import (
    bounded,
    checked_padding,
    number_rows,
    points_of,
    register_shape,
)
from ros2_ik.core.scene.triangle_solid import TriangleSolid

DETAILS = ('exact', 'hull', 'pieces')
MANY_TRIANGLES = 500_000


@register_shape('mesh')
@dataclass(frozen=True, eq=False)
class Mesh(HulledShape):
    """
    A mesh of `vertices` (n, 3) and `triangles` (m, 3), indices of its vertices.

    `detail` says what stands for it. 'exact': whether something touches is decided by the
    triangles and what is inside of them, distances and depths are those of convex parts; holes are
    covered, so that what is behind them is inside. 'hull': its convex hull (it
    closes bins and holes). 'pieces': convex parts that together contain it and what it encloses.
    A padded mesh is never exact. Hulls and parts are kept on disk; until parts are made
    (`make_parts`), distances are those of the hull.
    """

    vertices: Array
    triangles: Indices
    detail: str = 'exact'
    padding: float = 0.0

    def __post_init__(self) -> None:
        vertices = points_of(self.vertices, 'the vertices of a mesh')
        self._set(vertices=vertices, triangles=_triangles(self.triangles, len(vertices)),
                  padding=checked_padding(self.padding))
        if self.detail not in DETAILS:
            raise InvalidSceneError(f'the detail of a mesh is {self.detail!r}; '
                                    f'valid: {", ".join(DETAILS)}')

    @classmethod
    def from_file(cls, path: str | Path, scale: Any = 1.0, detail: str = 'exact') -> 'Mesh':
        """
        Read an stl, obj or dae file; `scale` is a factor or one along each axis.

        Raises InvalidSceneError for a file that cannot be read, and a scale of zero.
        """
        factors = floats(scale, 'the scale of a mesh', 'one or 3 numbers', InvalidSceneError)
        if factors.shape not in ((), (3,)) or not np.isfinite(factors).all() \
                or not factors.all():
            raise InvalidSceneError('the scale of a mesh must be one or 3 numbers, none of them '
                                    f'zero, not {scale!r}')
        vertices, triangles = read_triangles(path)
        if np.broadcast_to(factors, 3).prod() < 0:    # a mirror turns it inside out
            triangles = triangles[:, ::-1]
        try:
            return cls(vertices * factors, triangles, detail)
        except InvalidSceneError as error:
            raise InvalidSceneError(f"the mesh '{path}': {error}") from None

    @property
    def warnings(self) -> tuple[str, ...]:
        if len(self.triangles) > MANY_TRIANGLES:
            return (f'a mesh has {len(self.triangles)} triangles, more than {MANY_TRIANGLES}: '
                    'its convex hull stands for it',)
        return ()

    @property
    def represented_by(self) -> str:
        """The detail in use: 'hull' of too many triangles, 'pieces' of an exact one padded."""
        if len(self.triangles) > MANY_TRIANGLES:
            return 'hull'
        return 'pieces' if self.detail == 'exact' and self.padding else self.detail

    @cached_property
    def hulls(self) -> tuple[Hull, ...]:
        """The convex solids that contain it: its hull, or the pieces where these are wanted."""
        if self.represented_by == 'pieces':
            return tuple(convex_pieces(*self._solid.closed, self.padding))
        return (self._hull,)

    @cached_property
    def _hull(self) -> Hull:
        used = np.zeros(len(self.vertices), dtype=bool)
        used[self.triangles] = True
        return cached_hull(self.vertices[used], self.padding)

    def distance_hulls(self) -> tuple[Hull, ...]:
        """Return the convex solids for distances: parts, for an exact mesh its hull until then."""
        if self.represented_by == 'exact' and self.has_parts:
            return tuple(convex_pieces(*self._solid.closed))
        return self.hulls

    @property
    def has_parts(self) -> bool:
        """Whether its convex parts were made."""
        return pieces_are_known(self._key)

    @cached_property
    def _key(self) -> str:
        return key_of(*self._solid.closed, self.padding)

    def make_parts(self) -> None:
        """Make the convex parts and keep them on disk: it takes seconds, or minutes."""
        if self.represented_by != 'hull':
            convex_pieces(*self._solid.closed, self.padding)

    @cached_property
    def geometry(self) -> Any:
        """Triangles (exact) or the convex hull; `parts` gives the pieces."""
        if self.represented_by == 'exact':
            return self._solid.tree
        if self.represented_by == 'hull':
            return self._parts[0]
        return bounded(self._hull.geometry())

    def parts(self) -> tuple[Any, ...]:
        return (self.geometry,) if self.represented_by == 'exact' else self._parts

    def checked_parts(self) -> tuple[tuple[Any, TriangleSolid | None], ...]:
        if self.represented_by == 'exact':
            return ((self._parts[0], self._solid),)
        return super().checked_parts()

    @cached_property
    def _solid(self) -> TriangleSolid:
        return TriangleSolid(self.vertices, self.triangles, self.distance_hulls,
                             lambda: self.has_parts, self.make_parts)


def _triangles(value: Any, vertices: int) -> Indices:
    name = 'the triangles of a mesh'
    array: Any = value
    if not (isinstance(value, np.ndarray) and value.dtype.kind in 'iu' and value.ndim == 2
            and value.shape[1] == 3 and len(value)):
        array = number_rows(value, name, 3)
    wrong = (array < 0) | (array >= vertices)
    if array.dtype.kind == 'f':
        wrong |= array != np.round(array)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise InvalidSceneError(f'{name} must be indices of its {vertices} vertices; triangle '
                                f'{row} is [{", ".join(f"{i:g}" for i in array[row])}]')
    triangles: Indices = array.astype(np.intp)
    triangles.setflags(write=False)
    return triangles
