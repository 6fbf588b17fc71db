"""
Triangles from files, and convex hulls that contain all the points they are made of.

coal's own hull kills the process on flat or duplicate points, so hulls are made by scipy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.regular_file import read_file
from ros2_ik.core.scene.cache import digest, remembered
from ros2_ik.core.scene.geometry_library import coal, PointList
from ros2_ik.core.scene.mesh_files import FILE_KINDS, parse_mesh

MAX_FILE_SIZE = 500_000_000
MANY_POINTS = 10_000    # qhull takes a tenth of a second from here on if all are on the hull
SLOW_POINTS = 1000      # more take longer than to read a file
MOST_NEIGHBOURS = 255   # of a vertex, that coal can count
THICKNESS = 1e-4        # m, half of what a flat piece is given
_CELLS = 48             # of the grid, along each axis
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_BOX = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)[:13]  # and back


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex solid: vertices (n, 3), faces (m, 3) turned outwards, volume [m^3]."""

    vertices: Array
    faces: Indices
    volume: float

    def geometry(self) -> Any:
        """Make coal's convex solid."""
        points, triangles = PointList(), coal.StdVec_Triangle()
        for point in self.vertices:
            points.append(point)
        for a, b, c in self.faces.tolist():
            triangles.append(coal.Triangle(a, b, c))
        return coal.Convex(points, triangles)

    @cached_property
    def half_spaces(self) -> tuple[Array, Array]:
        """Unit normals (f, 3) of the faces, outward, and their offsets (f,) [m]."""
        a, b, c = (self.vertices[self.faces[:, corner]] for corner in range(3))
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1)
        wide = lengths > 1e-15
        normals = normals[wide] / lengths[wide, None]
        return normals, np.einsum('ij,ij->i', a[wide], normals)


def triangle_tree(vertices: Array, triangles: Indices) -> Any:
    """Make coal's tree of the triangles themselves."""
    tree = coal.BVHModelOBBRSS()
    tree.beginModel(len(triangles), len(vertices))
    tree.addVertices(vertices)
    tree.addTriangles(triangles)
    tree.endModel()
    return tree


def hull_of(points: Array, padding: float = 0.0) -> Hull:
    """
    Return the convex hull of points (n, 3), grown by `padding` [m] or a little more.

    Flat, collinear or single points get a thickness of 0.1 mm to each side. Of more than
    10 000 points near the hull their boxes in a grid are taken: a hull a few percent larger.
    Where edges from more than 255 points meet in one, as in the tip of a fine cone, fewer points
    are taken, farther out: a hull up to half a percent wider.
    """
    if len(points) > MANY_POINTS:
        points = _boxed(_outermost(points))
    hull = _qhull(points)
    if padding > 0:
        hull = _qhull((hull.points[hull.vertices][:, None] + padding * _ball()).reshape(-1, 3))
    outward = _outward(hull)
    # each edge is in two faces, turned once this way and once the other
    if np.bincount(outward.faces.reshape(-1)).max() > MOST_NEIGHBOURS:
        return _outward(_of_fewer(outward.vertices))
    return outward


def cached_hull(points: Array, padding: float = 0.0) -> Hull:
    """Return `hull_of` these points; kept by their content."""
    key = digest(np.ascontiguousarray(points).tobytes(), repr(padding))
    found = remembered('hulls-3', key, lambda: hulls_as_arrays([hull_of(points, padding)]),
                       disk=len(points) > SLOW_POINTS)
    return hulls_from_arrays(found)[0]


def hulls_as_arrays(hulls: list[Hull]) -> dict[str, Any]:
    """Put hulls into arrays that can be kept in a file."""
    return {'vertices': np.concatenate([hull.vertices for hull in hulls]),
            'faces': np.concatenate([hull.faces for hull in hulls]),
            'vertex_ends': np.cumsum([len(hull.vertices) for hull in hulls]),
            'face_ends': np.cumsum([len(hull.faces) for hull in hulls]),
            'volumes': np.array([hull.volume for hull in hulls])}


def hulls_from_arrays(arrays: dict[str, Any]) -> list[Hull]:
    """Undo `hulls_as_arrays`."""
    vertices = np.split(arrays['vertices'], arrays['vertex_ends'][:-1])
    faces = np.split(arrays['faces'], arrays['face_ends'][:-1])
    return [Hull(*hull) for hull in zip(vertices, faces, arrays['volumes'].tolist(),
                                        strict=True)]


def mesh_volume(vertices: Array, triangles: Indices) -> float | None:
    """Return the volume [m^3] a mesh encloses, None if it is open or inside out."""
    corners = vertices[triangles] - vertices.mean(axis=0)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    areas = np.cross(b - a, c - a)
    gap, area = np.abs(areas.sum(axis=0)).max(), np.linalg.norm(areas, axis=1).sum()
    volume = float(np.einsum('ij,ij->', a, np.cross(b, c)) / 6)
    return volume if gap < 1e-4 * area and volume > 0 else None


def signed_volume(corners: Array) -> float:
    """Return the volume [m^3] in a closed surface (m, 3, 3), negative if it is turned inward."""
    moved = corners - corners[0, 0]
    return float(np.einsum('ij,ij->', moved[:, 0], np.cross(moved[:, 1], moved[:, 2])) / 6)


def read_triangles(path: str | Path) -> tuple[Array, Indices]:
    """
    Read the vertices (n, 3) and triangles (m, 3) of an stl, obj or dae file; kept by content.

    Raises InvalidSceneError for a file that is missing, too large or no such mesh.
    """
    found = _read(path)
    return found['vertices'], found['triangles']


def read_colored_triangles(path: str | Path) -> list[tuple[Array, Indices, Array | None]]:
    """
    Read the parts of one color each of a mesh file: vertices, triangles, red green blue (3,).

    The color is None where the file names none. Raises what `read_triangles` does.
    """
    found, parts = _read(path), []
    colors, part_of = np.unique(found['colors'], axis=0, return_inverse=True)
    for number, color in enumerate(colors):
        used, faces = np.unique(found['triangles'][part_of.reshape(-1) == number],
                                return_inverse=True)
        parts.append((found['vertices'][used], faces.reshape(-1, 3),
                      color if color.min() >= 0 else None))
    return parts


def read_unit(path: str | Path) -> float:
    """Return the unit [m] that a mesh file names, 1 if none; `read_triangles` leaves it out."""
    return float(_read(path)['unit'])


def _read(path: str | Path) -> dict[str, Any]:
    kind, content = _content(Path(path))
    try:
        return remembered('triangles-4', digest(kind, content), lambda: parse_mesh(kind, content))
    except ValueError as error:
        raise InvalidSceneError(f"the mesh '{path}' cannot be read: {error}") from None


def _content(path: Path) -> tuple[str, bytes]:
    """Return the kind of a mesh file and what is in it; raises InvalidSceneError."""
    kind = path.suffix.lower()
    if kind not in FILE_KINDS:
        raise InvalidSceneError(f"the mesh '{path}' is of no known kind; "
                                f'valid: {", ".join(FILE_KINDS)}')
    try:
        return kind, read_file(path, MAX_FILE_SIZE)
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise InvalidSceneError(f"the mesh '{path}' cannot be read: {reason}") from None


def _qhull(points: Array) -> Any:
    extent = float(np.ptp(points, axis=0).max())
    try:
        hull = scipy.spatial.ConvexHull(points)
        if hull.volume > 1e-9 * extent ** 3:
            return hull
    except scipy.spatial.QhullError:
        pass
    # flat, collinear or one point, or nearly so
    points = np.unique(points, axis=0)
    thickness = max(THICKNESS, 1e-6 * extent)
    return scipy.spatial.ConvexHull((points[:, None] + thickness * _CORNERS).reshape(-1, 3))


def _outward(hull: Any) -> Hull:
    vertices = hull.points[hull.vertices]
    index = np.full(len(hull.points), -1, dtype=np.intp)
    index[hull.vertices] = np.arange(len(vertices))
    faces = index[hull.simplices]
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    inward = np.einsum('ij,ij->i', np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return Hull(vertices, faces, float(hull.volume))


def _of_fewer(points: Array) -> Any:
    """Make a hull that contains points (n, 3) from at most MOST_NEIGHBOURS of them, scaled up."""
    height = 1 - (2 * np.arange(MOST_NEIGHBOURS) + 1) / MOST_NEIGHBOURS
    turn = np.pi * (1 + 5 ** 0.5) * np.arange(MOST_NEIGHBOURS)     # the golden angle
    ring = np.sqrt(1 - height ** 2)
    ways = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)
    lengths, axes = np.linalg.eigh(np.cov(points.T))    # as if it were as wide as it is long
    round_ = points @ (axes / np.sqrt(np.maximum(lengths, 1e-12 * lengths.max())))
    hull = _qhull(points[np.unique((ways @ round_.T).argmax(axis=1))])
    few, planes = hull.points[hull.vertices], hull.equations
    middle = few.mean(axis=0)
    room = -(planes[:, :3] @ middle + planes[:, 3])
    over = (planes[:, :3] @ (points - middle).T).max(axis=1) / room
    return _qhull(middle + max(float(over.max()), 1.0) * (1 + 1e-9) * (few - middle))


def _outermost(points: Array) -> Array:
    """Drop points inside the hull of those that are extreme in a few directions."""
    rounding = 1e-12 * float(np.ptp(points, axis=0).max())
    directions = np.concatenate([_BOX, np.random.default_rng(0).normal(size=(30, 3))])
    best = np.concatenate([start + np.stack([along.argmin(axis=1), along.argmax(axis=1)])
                           for start, along in _blocks(directions, points)])
    heights = np.einsum('bdi,di->bd', points[best], directions)
    extreme = np.unique([best[heights.argmax(axis=0), range(len(directions))],
                         best[heights.argmin(axis=0), range(len(directions))]])
    equations = _qhull(points[extreme]).equations
    outside = np.concatenate([
        (along + equations[:, 3:]).max(axis=0)
        for _, along in _blocks(equations[:, :3], points)]) > rounding
    outside[extreme] = True
    return np.asarray(points[outside])


def _blocks(directions: Array, points: Array) -> Iterator[tuple[int, Array]]:
    """
    Yield points along directions, (d, n), in blocks of points, each with the first one's number.

    Small ones, as for large ones BLAS has threads wait for each other.
    """
    size = max(80_000 // len(directions), 1)
    for start in range(0, len(points), size):
        yield start, directions @ points[start:start + size].T


def _boxed(points: Array) -> Array:
    """Return the corners of the boxes round the points of each cell of a grid."""
    if len(points) <= MANY_POINTS:
        return points
    low, extent = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-300)
    cells = np.minimum((points - low) / extent * _CELLS, _CELLS - 1).astype(np.int32)
    numbers = (cells[:, 0] * _CELLS + cells[:, 1]) * _CELLS + cells[:, 2]
    order = np.argsort(numbers)
    first = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    boxes = (np.minimum.reduceat(points[order], first), np.maximum.reduceat(points[order], first))
    pick = (_CORNERS > 0)[None]
    return np.where(pick, boxes[1][:, None], boxes[0][:, None]).reshape(-1, 3)


def _ball() -> Array:
    """Vertices of the icosahedron round the unit ball, (12, 3)."""
    golden = (1 + 5 ** 0.5) / 2
    corners = [[0, a, b * golden] for a in (-1, 1) for b in (-1, 1)]
    vertices = np.array([np.roll(corner, turn) for corner in corners for turn in range(3)])
    inradius = golden ** 2 / 3 ** 0.5      # of the one with edges of length 2
    return vertices / inradius
