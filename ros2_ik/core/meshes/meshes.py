"""
Triangles from files, and convex hulls that contain all the points they are made of.

coal's own hull kills the process on flat or duplicate points, so hulls are made by scipy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import coal
import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.cache import Arrays, cached, digest
from ros2_ik.core.meshes.mesh_files import FILE_KINDS, parse_mesh

MANY_POINTS = 4000      # vertices of a hull, above which it is made of fewer
MOST_NEIGHBOURS = 255   # of a vertex, that coal can count
SLOW_POINTS = 1000      # points whose hull is read from disk faster than it is made
THICKNESS = 1e-4        # half of what a flat piece is given [m]
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex solid: vertices (n, 3), faces (m, 3) turned outwards, volume [m^3]."""

    vertices: Array
    faces: Indices
    volume: float

    def geometry(self) -> coal.Convex:
        """Make coal's convex solid."""
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for point in self.vertices:
            points.append(point)
        for a, b, c in self.faces.tolist():
            triangles.append(coal.Triangle(a, b, c))
        convex = coal.Convex(points, triangles)
        convex.computeLocalAABB()
        return convex

    @cached_property
    def half_spaces(self) -> tuple[Array, Array]:
        """Unit normals (f, 3) of the faces, outward, and their offsets (f,) [m]."""
        a, b, c = (self.vertices[self.faces[:, corner]] for corner in range(3))
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1)
        wide = lengths > 1e-15
        normals = normals[wide] / lengths[wide, None]
        return normals, np.einsum('ij,ij->i', a[wide], normals)


def triangle_tree(vertices: Array, triangles: Indices) -> coal.BVHModelOBBRSS:
    """Make coal's tree of the triangles themselves."""
    tree = coal.BVHModelOBBRSS()
    tree.beginModel(len(triangles), len(vertices))
    tree.addVertices(vertices)
    tree.addTriangles(triangles)
    tree.endModel()
    tree.computeLocalAABB()
    return tree


def hull_of(points: Array) -> Hull:
    """
    Return the convex hull of points (n, 3).

    Flat, collinear or single points get a thickness of 0.1 mm to each side. A hull of more than
    4000 points, or with one in which edges from more than 255 points meet, as in the tip of a
    fine cone, is replaced by one of fewer points, farther out: up to a few percent larger.
    """
    hull = _outward(_qhull(points))
    # each edge is in two faces, turned once this way and once the other
    most = np.bincount(hull.faces.reshape(-1)).max()
    if len(hull.vertices) > MANY_POINTS or most > MOST_NEIGHBOURS:
        hull = _outward(_qhull(_fewer(hull.vertices)))
    return hull


def cached_hull(points: Array) -> Hull:
    """Return `hull_of` these points; kept by their content."""
    key = digest(np.ascontiguousarray(points).tobytes())
    return cached_hulls('hulls-4', key, lambda: [hull_of(points)],
                        disk=len(points) > SLOW_POINTS)[0]


def cached_hulls(namespace: str, key: str, make: Callable[[], list[Hull]],
                 disk: bool = True) -> list[Hull]:
    """Return the hulls of `make`, kept as arrays by `cached`."""
    def arrays() -> Arrays:
        hulls = make()
        return {'vertices': np.concatenate([hull.vertices for hull in hulls]),
                'faces': np.concatenate([hull.faces for hull in hulls]),
                'vertex_ends': np.cumsum([len(hull.vertices) for hull in hulls]),
                'face_ends': np.cumsum([len(hull.faces) for hull in hulls]),
                'volumes': np.array([hull.volume for hull in hulls])}
    found = cached(namespace, key, arrays, disk)
    vertices, faces = (np.split(found[name], found[ends][:-1]) for name, ends in (
        ('vertices', 'vertex_ends'), ('faces', 'face_ends')))
    return [Hull(*hull) for hull in zip(vertices, faces, found['volumes'].tolist(), strict=True)]


def mesh_volume(vertices: Array, triangles: Indices) -> float | None:
    """Return the volume [m^3] a mesh encloses, None if it is open or inside out."""
    corners = vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    gap, area = np.abs(areas.sum(axis=0)).max(), np.linalg.norm(areas, axis=1).sum()
    volume = signed_volume(corners)
    return volume if gap < 1e-4 * area and volume > 0 else None


def signed_volume(corners: Array) -> float:
    """Return the volume [m^3] in a closed surface (m, 3, 3), negative if it is turned inward."""
    moved = corners - corners[0, 0]
    return float(np.einsum('ij,ij->', moved[:, 0], np.cross(moved[:, 1], moved[:, 2])) / 6)


def read_triangles(path: str | Path) -> tuple[Array, Indices]:
    """
    Read the vertices (n, 3) and triangles (m, 3) of an stl, obj or dae file; kept by content.

    Raises InvalidSceneError for a file that is missing or no such mesh.
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


def _read(path: str | Path) -> Arrays:
    kind = Path(path).suffix.lower()
    if kind not in FILE_KINDS:
        raise InvalidSceneError(f"the mesh '{path}' is of no known kind; "
                                f'valid: {", ".join(FILE_KINDS)}')
    try:
        content = Path(path).read_bytes()
        return cached('triangles-4', digest(kind, content), lambda: parse_mesh(kind, content))
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise InvalidSceneError(f"the mesh '{path}' cannot be read: {reason}") from None


def _qhull(points: Array) -> 'scipy.spatial.ConvexHull':
    extent = float(np.ptp(points, axis=0).max())
    try:
        hull = scipy.spatial.ConvexHull(points)
        if hull.volume > 1e-9 * extent ** 3:
            return hull
    except scipy.spatial.QhullError:
        pass
    # flat, collinear or one point, or nearly so
    points = np.unique(points, axis=0)
    if len(points) > MANY_POINTS:     # of a disc of 15 000, qhull takes minutes
        return _qhull(_fewer(points))
    thickness = max(THICKNESS, 1e-6 * extent)
    return scipy.spatial.ConvexHull((points[:, None] + thickness * _CORNERS).reshape(-1, 3))


def _outward(hull: 'scipy.spatial.ConvexHull') -> Hull:
    vertices = hull.points[hull.vertices]
    index = np.full(len(hull.points), -1, dtype=np.intp)
    index[hull.vertices] = np.arange(len(vertices))
    faces = index[hull.simplices]
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    inward = np.einsum('ij,ij->i', np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return Hull(vertices, faces, float(hull.volume))


def _fewer(points: Array) -> Array:
    """Return at most MOST_NEIGHBOURS of points (n, 3), moved out so that their hull has all."""
    height = 1 - (2 * np.arange(MOST_NEIGHBOURS) + 1) / MOST_NEIGHBOURS
    turn = np.pi * (1 + 5 ** 0.5) * np.arange(MOST_NEIGHBOURS)     # the golden angle
    ring = np.sqrt(1 - height ** 2)
    directions = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)
    lengths, axes = np.linalg.eigh(np.cov(points.T))    # as if it were as wide as it is long
    rounded = points @ (axes / np.sqrt(np.maximum(lengths, 1e-12 * lengths.max())))
    hull = _qhull(points[np.unique((directions @ rounded.T).argmax(axis=1))])
    few, planes = hull.points[hull.vertices], hull.equations
    middle = few.mean(axis=0)
    room = -(planes[:, :3] @ middle + planes[:, 3])
    over = (planes[:, :3] @ (points - middle).T).max(axis=1) / room
    moved: Array = middle + max(float(over.max()), 1.0) * (1 + 1e-9) * (few - middle)
    return moved
