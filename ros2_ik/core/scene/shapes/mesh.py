"""Triangle meshes, and the convex parts that represent them in distance checks."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import coal
import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike, Indices
from ros2_ik.core.checks import matrix, one_of, row_numbers
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import digest, is_cached
from ros2_ik.core.meshes.convex_pieces import convex_pieces, HULL_TOLERANCE, MAX_PIECES
from ros2_ik.core.meshes.mesh_files import read_mesh
from ros2_ik.core.meshes.mesh_solids import Enclosure, outward_surfaces, solids_of
from ros2_ik.core.meshes.meshes import cached_hulls, Hull, hull_of
from ros2_ik.core.scene.shapes.shape import Shape

DETAILS = ('exact', 'hull')
NAMESPACE = 'pieces-7'      # cache folder of convex parts; rename it if their algorithm changes
# larger meshes are replaced by their hulls: coal's tree of a million triangles takes 4 GB
MAX_EXACT_TRIANGLES = 500_000
# directions from the centre of a cube to its 6 faces, 12 edges and 8 corners
_DIRECTIONS = np.array([signs for signs in product((-1, 0, 1), repeat=3) if any(signs)],
                       dtype=float)


@dataclass(frozen=True, eq=False)
class Mesh(Shape, kind='mesh'):
    """
    A mesh of `vertices` (n, 3) [m] and `triangles` (m, 3), indices into `vertices`.

    `detail` selects the geometry that is checked. With 'exact' a body is in contact if it touches
    the triangles or the volume that they enclose; distances and penetration depths are those of
    convex parts that contain the mesh. With 'hull' the convex hull is checked, so the inside of
    bins and holes counts as solid. Meshes of more than 500,000 triangles always use the hull.
    Convex parts are cached on disk; until they have been computed, distances use the hull.
    """

    vertices: Array
    triangles: Indices
    detail: str = 'exact'

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(triangles=_triangles(self.triangles, len(self.vertices)))
        one_of(self.detail, self.field_label('detail'), DETAILS, InvalidSceneError)
        if len(self.triangles) > MAX_EXACT_TRIANGLES:
            self._set(detail='hull')

    @classmethod
    def from_file(cls, path: str | Path, scale: 'ArrayLike' = 1.0,
                  detail: str = 'exact') -> 'Mesh':
        """
        Read an stl, obj or dae file; `scale` is one factor or a factor for each axis (3,).

        Raises InvalidSceneError for a file that cannot be read and for a scale of zero.
        """
        factors = np.full(3, row_numbers(scale, 'the scale of a mesh', InvalidSceneError, count=3))
        if not factors.all():
            raise InvalidSceneError(f'the scale of a mesh must not be zero: {scale!r}')
        vertices, triangles = read_mesh(path)[:2]
        # mirroring turns the surface inside out: reverse the order of each triangle's corners
        if factors.prod() < 0:
            triangles = triangles[:, ::-1]
        try:
            return cls(vertices * factors, triangles, detail)
        except InvalidSceneError as error:
            raise InvalidSceneError(f"the mesh '{path}': {error}") from None

    @cached_property
    def hull(self) -> Hull:
        """The convex hull of the vertices that triangles use."""
        return hull_of(self.vertices[np.unique(self.triangles)])

    @cached_property
    def convex_parts(self) -> list[Hull]:
        """
        Convex solids that together contain the mesh.

        If the disk cache does not contain them, computing them takes seconds to minutes.
        """
        return cached_hulls(NAMESPACE, self._key,
                            lambda: convex_pieces(self.vertices, self.triangles))

    @property
    def has_parts(self) -> bool:
        """True if the convex parts are loaded or on disk."""
        return 'convex_parts' in vars(self) or is_cached(NAMESPACE, self._key)

    @cached_property
    def _key(self) -> str:
        return digest(self.vertices.tobytes(), self.triangles.tobytes())

    @cached_property
    def geometry(self) -> coal.CollisionGeometry:
        """The coal geometry: a tree of the triangles ('exact') or the convex hull ('hull')."""
        if self.detail == 'hull':
            return self.hull.geometry
        tree = coal.BVHModelOBBRSS()
        tree.beginModel(len(self.triangles), len(self.vertices))
        tree.addVertices(self.vertices)
        tree.addTriangles(self.triangles)
        tree.endModel()
        tree.computeLocalAABB()
        return tree

    def surface(self) -> tuple[Array, Indices]:
        return self.vertices, self.triangles

    # -- an exact mesh in collision checks ---------------------------------------------------

    @property
    def convex_solids(self) -> list[Hull]:
        """Convex solids that contain the mesh: the convex parts, if they exist, else the hull."""
        return self.convex_parts if self.has_parts else [self.hull]

    @cached_property
    def extremes(self) -> Array:
        """Extreme vertices of each connected surface along 26 directions, (surfaces, 26, 3)."""
        triangles, labels, closed = outward_surfaces(self.vertices, self.triangles)
        corners = (self.vertices[np.unique(triangles[labels == label])]
                   for label in range(len(closed)))
        return np.array([points[(points @ _DIRECTIONS.T).argmax(axis=0)] for points in corners])

    def contains_any(self, bodies: Array) -> bool:
        """
        Return whether any of k bodies is inside the volume that the triangles enclose.

        `bodies` (k, n, 3) has n points of each body; no body's surface may cross the triangles.
        """
        # cheap tests first: a body is inside only if all its points are in the bounding box ...
        box = self.geometry.aabb_local
        near = bodies[((bodies >= box.min_) & (bodies <= box.max_)).all(axis=(1, 2))]
        if not len(near):
            return False
        # ... and each is in a convex solid: together, these solids contain the enclosed volume
        contained = np.zeros(near.shape[:2], dtype=bool)
        for hull in self.convex_solids:
            normals, offsets = hull.half_spaces
            contained |= (near @ normals.T <= offsets + HULL_TOLERANCE).all(axis=2)
        # no surface crosses the triangles, so one point decides for the whole body
        return any(solid.contains(body[0]) for body in near[contained.all(axis=1)]
                   for solid in self._solids)

    @cached_property
    def _solids(self) -> list[Enclosure]:
        """Volumes enclosed by the surfaces of the mesh, at most MAX_PIECES; see `solids_of`."""
        return [Enclosure(self.vertices[triangles])
                for triangles in solids_of(self.vertices, self.triangles, MAX_PIECES)]


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
