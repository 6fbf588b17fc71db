"""
Convex hulls that contain all their input points.

scipy computes the hulls; coal's own function ends the process for coplanar or duplicate points.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import coal
import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.meshes.cache import Arrays, cached

MAX_HULL_POINTS = 4000      # number of vertices above which a hull is simplified
MAX_NEIGHBOURS = 255        # largest number of neighbours of a vertex; coal stores it in one byte
THICKNESS = 1e-4            # least thickness added to each side of flat hulls [m]
# corners of a cube
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex solid: vertices (n, 3) [m], faces (m, 3) with outward normals, volume [m^3]."""

    vertices: Array
    faces: Indices
    volume: float

    @cached_property
    def geometry(self) -> coal.Convex:
        """The solid as a coal geometry."""
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
        """Outward unit normals n (f, 3) of the faces and offsets d (f,) [m]: n.x <= d inside."""
        normals = area_vectors(self.vertices[self.faces])
        lengths = np.linalg.norm(normals, axis=1)
        # qhull's triangulation of flat facets can have triangles of zero area
        wide = lengths > 5e-16
        normals = normals[wide] / lengths[wide, None]
        return normals, np.einsum('ij,ij->i', self.vertices[self.faces[wide, 0]], normals)


def hull_of(points: Array) -> Hull:
    """
    Return the convex hull of points (n, 3).

    Coplanar, collinear or single points get a thickness of at least 0.1 mm on each side. A hull of
    more than 4000 vertices, or with a vertex that has more than 255 neighbours (the tip of a fine
    cone), is replaced by a hull of at most 255 vertices that contains all points and is up to a
    few percent larger.
    """
    hull = _outward(_qhull(points))
    # in a closed triangle mesh, a vertex has as many neighbours as triangles
    most = np.bincount(hull.faces.reshape(-1)).max()
    if len(hull.vertices) > MAX_HULL_POINTS or most > MAX_NEIGHBOURS:
        hull = _outward(_qhull(_simplified(hull.vertices)))
    return hull


def cached_hulls(namespace: str, key: str, make: Callable[[], list[Hull]]) -> list[Hull]:
    """Return the hulls of a cache entry; if it is not on disk, call `make` (see `cached`)."""
    def arrays() -> Arrays:
        hulls = make()
        return {'vertices': np.concatenate([hull.vertices for hull in hulls]),
                'faces': np.concatenate([hull.faces for hull in hulls]),
                'vertex_ends': np.cumsum([len(hull.vertices) for hull in hulls]),
                'face_ends': np.cumsum([len(hull.faces) for hull in hulls]),
                'volumes': np.array([hull.volume for hull in hulls])}
    entry = cached(namespace, key, arrays)
    vertices, faces = (np.split(entry[name], entry[ends][:-1]) for name, ends in (
        ('vertices', 'vertex_ends'), ('faces', 'face_ends')))
    return [Hull(*hull) for hull in zip(vertices, faces, entry['volumes'].tolist(), strict=True)]


def area_vectors(corners: Array) -> Array:
    """Return the normals (m, 3) of triangles (m, 3, 3); the length of a normal is the area."""
    return np.asarray(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2)


def mesh_volume(vertices: Array, triangles: Indices) -> float | None:
    """Return the volume [m^3] that a mesh encloses, or None if the mesh is open or inside out."""
    # the area vectors of a closed surface add up to zero
    corners = vertices[triangles]
    areas = area_vectors(corners)
    gap, area = np.abs(areas.sum(axis=0)).max(), np.linalg.norm(areas, axis=1).sum()
    # sum of the signed volumes of tetrahedra whose common corner is a vertex of the mesh
    volume = float(np.einsum('ij,ij->', corners[:, 0] - corners[0, 0], areas) / 3)
    return volume if gap < 1e-4 * area and volume > 0 else None


def _qhull(points: Array) -> 'scipy.spatial.ConvexHull':
    extent = float(np.ptp(points, axis=0).max())
    try:
        hull = scipy.spatial.ConvexHull(points)
        # thinner hulls are flat up to rounding, and their normals are inaccurate
        if hull.volume > 1e-9 * extent ** 3:
            return hull
    except scipy.spatial.QhullError:
        pass
    # (nearly) flat, collinear or equal points: replace each point by a small cube
    points = np.unique(points, axis=0)
    # simplify first: qhull takes minutes for a disc of 15,000 points
    if len(points) > MAX_HULL_POINTS:
        return _qhull(_simplified(points))
    thickness = max(THICKNESS, 1e-6 * extent)
    return scipy.spatial.ConvexHull((points[:, None] + thickness * _CORNERS).reshape(-1, 3))


def _outward(hull: 'scipy.spatial.ConvexHull') -> Hull:
    vertices = hull.points[hull.vertices]
    index = np.full(len(hull.points), -1, dtype=np.intp)
    index[hull.vertices] = np.arange(len(vertices))
    faces = index[hull.simplices]
    # qhull's triangles have no consistent orientation, but its plane equations point outward
    inward = np.einsum('ij,ij->i', area_vectors(vertices[faces]), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return Hull(vertices, faces, float(hull.volume))


def _simplified(points: Array) -> Array:
    """Return up to MAX_NEIGHBOURS points (k, 3), scaled until their hull contains all `points`."""
    # evenly distributed directions: a Fibonacci lattice on the unit sphere
    height = 1 - (2 * np.arange(MAX_NEIGHBOURS) + 1) / MAX_NEIGHBOURS
    angle = np.pi * (1 + 5 ** 0.5) * np.arange(MAX_NEIGHBOURS)
    radius = np.sqrt(1 - height ** 2)
    directions = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
    # the extreme point along each direction, after scaling the principal axes to equal lengths
    lengths, axes = np.linalg.eigh(np.cov(points.T))
    rounded = points @ (axes / np.sqrt(np.maximum(lengths, 1e-12 * lengths.max())))
    hull = _qhull(points[np.unique((directions @ rounded.T).argmax(axis=1))])
    few, planes = hull.points[hull.vertices], hull.equations
    # scale about the centre until no point is outside a face; `ratios`, per face: the farthest
    # point's distance over the face's distance, both from the centre along the face's normal
    centre = few.mean(axis=0)
    face_distances = -(planes[:, :3] @ centre + planes[:, 3])
    ratios = (planes[:, :3] @ (points - centre).T).max(axis=1) / face_distances
    scaled: Array = centre + max(float(ratios.max()), 1.0) * (1 + 1e-9) * (few - centre)
    return scaled
