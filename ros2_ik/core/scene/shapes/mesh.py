"""Triangle meshes, and the convex solids used in their place."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike, Indices
from ros2_ik.core.checks import matrix, one_of, one_or_each
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import is_cached
from ros2_ik.core.meshes.convex_pieces import (
    convex_pieces,
    HULL_TOLERANCE,
    key_of,
    MOST_PIECES,
    NAMESPACE,
)
from ros2_ik.core.meshes.mesh_solids import Enclosure, outward_surfaces, solids_of
from ros2_ik.core.meshes.meshes import cached_hull, Hull, read_triangles, triangle_tree
from ros2_ik.core.scene.shapes.shape import Points, register_shape, Shape

if TYPE_CHECKING:
    import coal

DETAILS = ('exact', 'hull')
MANY_TRIANGLES = 500_000    # a million take 4 GB
_DIRECTIONS = np.array([way for way in product((-1, 0, 1), repeat=3) if any(way)], dtype=float)


@register_shape('mesh')
@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """
    A mesh of `vertices` (n, 3) and `triangles` (m, 3), indices of its vertices.

    `detail` says what is checked. 'exact': the triangles and the volume inside them decide
    whether something touches, distances and depths are those of convex parts that contain both.
    'hull': its convex hull, which closes bins and holes; always that of more than 500,000
    triangles. Hulls and parts are kept on disk; until the parts are made (`make_parts`),
    distances are those of the hull.
    """

    vertices: Points
    triangles: Indices
    detail: str = 'exact'

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(triangles=_triangles(self.triangles, len(self.vertices)))
        one_of(self.detail, self.called('detail'), DETAILS, InvalidSceneError)
        if len(self.triangles) > MANY_TRIANGLES:
            self._set(detail='hull')

    @classmethod
    def from_file(cls, path: str | Path, scale: 'ArrayLike' = 1.0,
                  detail: str = 'exact') -> 'Mesh':
        """
        Read an stl, obj or dae file; `scale` is a factor or one along each axis.

        Raises InvalidSceneError for a file that cannot be read, and a scale of zero.
        """
        factors = one_or_each(scale, 'the scale of a mesh', 3, InvalidSceneError)
        if not factors.all():
            raise InvalidSceneError(f'the scale of a mesh must not be zero: {scale!r}')
        vertices, triangles = read_triangles(path)
        if factors.prod() < 0:    # a mirror turns it inside out
            triangles = triangles[:, ::-1]
        try:
            return cls(vertices * factors, triangles, detail)
        except InvalidSceneError as error:
            raise InvalidSceneError(f"the mesh '{path}': {error}") from None

    @cached_property
    def hull(self) -> Hull:
        """The convex hull of its triangles."""
        return cached_hull(self.vertices[np.unique(self.triangles)])

    @cached_property
    def convex_parts(self) -> list[Hull]:
        """Convex solids that together contain it, made now if they were not."""
        return convex_pieces(self.vertices, self.triangles)

    @property
    def has_parts(self) -> bool:
        """True if its convex parts were made."""
        return is_cached(NAMESPACE, self._key)

    @cached_property
    def _key(self) -> str:
        return key_of(self.vertices, self.triangles)

    def make_parts(self) -> None:
        """Make the convex parts and keep them on disk: it takes seconds, or minutes."""
        convex_pieces(self.vertices, self.triangles)

    @cached_property
    def geometry(self) -> 'coal.CollisionGeometry':
        """Triangles (exact) or the convex hull."""
        return triangle_tree(self.vertices, self.triangles) if self.detail == 'exact' \
            else self.hull_geometry

    def surface(self) -> tuple[Array, Indices]:
        return self.vertices, self.triangles

    @cached_property
    def hull_geometry(self) -> 'coal.Convex':
        """The convex hull, for a quick look."""
        return self.hull.geometry()

    @cached_property
    def _part_geometries(self) -> 'tuple[coal.Convex, ...]':
        return tuple(hull.geometry() for hull in self.convex_parts)

    # -- an exact mesh in collision checks ---------------------------------------------------

    @property
    def distance_geometries(self) -> 'tuple[coal.Convex, ...]':
        """Convex solids for distances: the convex parts, the hull before they were made."""
        return self._part_geometries if self.has_parts else (self.hull_geometry,)

    @cached_property
    def extremes(self) -> Array:
        """The farthest corners (s, 26, 3) of each connected surface along 26 directions."""
        triangles, labels, closed = outward_surfaces(self.vertices, self.triangles)
        found = (self.vertices[np.unique(triangles[labels == label])]
                 for label in range(len(closed)))
        return np.array([points[(points @ _DIRECTIONS.T).argmax(axis=0)] for points in found])

    def holds(self, bodies: Array) -> bool:
        """
        Return whether one of some bodies is inside, whose surfaces do not meet the triangles.

        `bodies` (k, n, 3) are points of each, which for one that is inside are all in the convex
        parts. That is looked at first, as rays take longer.
        """
        box = self.geometry.aabb_local
        near = bodies[((bodies >= box.min_) & (bodies <= box.max_)).all(axis=(1, 2))]
        if not len(near):
            return False
        held = np.zeros(near.shape[:2], dtype=bool)
        for hull in self.convex_parts if self.has_parts else (self.hull,):
            normals, offsets = hull.half_spaces
            held |= (near @ normals.T <= offsets + HULL_TOLERANCE).all(axis=2)
        return any(solid.has(body[0]) for body in near[held.all(axis=1)]
                   for solid in self._solids)

    @cached_property
    def _solids(self) -> list[Enclosure]:
        """Each closed surface, and the open rest."""
        return [Enclosure(self.vertices[triangles])
                for triangles in solids_of(self.vertices, self.triangles, MOST_PIECES)]


def _triangles(value: object, vertices: int) -> Indices:
    name = 'the triangles of a mesh'
    array = matrix(value, name, 3, InvalidSceneError)
    wrong = ((array < 0) | (array >= vertices) | (array != np.round(array))).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidSceneError(f'{name} must be indices of its {vertices} vertices; triangle '
                                f'{row} is [{", ".join(f"{i:g}" for i in array[row])}]')
    triangles: Indices = array.astype(np.intp)
    triangles.setflags(write=False)
    return triangles
