"""
Closed surfaces of a mesh, and a test for points inside the mesh.

A mesh may consist of several closed surfaces that overlap, such as a bin made of five boxes.
Meshes of real robots often have defects: triangles are missing, have the wrong orientation, or
exist twice, once for each side.
"""

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.kernels.boxes import count_exiting_rays

# a mesh counts as two-sided (each triangle exists twice) if less than this share of its triangles
# is distinct
TWO_SIDED = 0.6
# columns: axes, each of two opposite rays; oblique, as rays along x, y, z would hit box edges
_AXES = np.linalg.qr(np.array([[1.0, 0.3, 0.2], [-0.2, 1.0, 0.4], [0.5, -0.3, 1.0]]))[0]


class Enclosure:
    """
    The volume that triangles enclose; `corners` (m, 3, 3) are the corners of the triangles.

    Six rays are cast from a point. A ray leaves the mesh if its outward and inward crossings of
    triangles differ in number; the point is inside if at least three rays leave the mesh. The vote
    tolerates a few holes and triangles of wrong orientation.
    """

    def __init__(self, corners: Array) -> None:
        self._corners = np.ascontiguousarray(corners @ _AXES)
        self._low, self._high = self._corners.min(axis=(0, 1)), self._corners.max(axis=(0, 1))

    def contains(self, point: Array) -> bool:
        """Return whether a point (3,), which must not lie on a triangle, is inside."""
        rotated = point @ _AXES
        return bool((rotated >= self._low).all() and (rotated <= self._high).all()
                    and count_exiting_rays.run(self._corners, rotated) >= 3)


def outward_surfaces(vertices: Array, triangles: Indices) -> tuple[Indices, Indices, Mask]:
    """
    Return triangles (m, 3), the surface number of each (m,), and which surfaces are closed (s,).

    Closed surfaces get outward normals; a cavity inside a mesh therefore counts as solid. If the
    mesh is two-sided, one copy of each triangle remains. Triangles with two equal corners are
    dropped, unless the mesh has no other triangles.
    """
    # equal vertices get equal numbers, so that adjacent triangles share edges
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    points = same.reshape(-1)[triangles]
    # triangles with three different corners
    proper = (points != np.roll(points, 1, axis=1)).all(axis=1)
    if proper.any():
        triangles, points = triangles[proper], points[proper]
    # distinct triangles, regardless of their orientation
    _, first = np.unique(np.sort(points, axis=1), axis=0, return_index=True)
    if len(first) < TWO_SIDED * len(points):
        triangles, points = triangles[first], points[first]
    labels, closed = _surfaces(points)
    # signed volume of each surface (times six): negative if the normals point inward
    a, b, c = np.moveaxis(vertices[triangles] - vertices[triangles[0, 0]], 1, 0)
    volumes = np.bincount(labels, np.einsum('ij,ij->i', a, np.cross(b, c)))
    inward = (closed & (volumes < 0))[labels]
    return np.where(inward[:, None], triangles[:, ::-1], triangles), labels, closed


def solids_of(vertices: Array, triangles: Indices, most: int) -> list[Indices]:
    """
    Split triangles (m, 3) into one array per closed surface, and one for all open surfaces.

    Closed surfaces have outward normals. If the result would have more than `most` arrays, the
    mesh is not split.
    """
    triangles, labels, closed = outward_surfaces(vertices, triangles)
    if closed.sum() + (not closed.all()) > most:
        return [triangles]
    solids = [triangles[labels == label] for label in np.flatnonzero(closed)]
    return solids if closed.all() else [*solids, triangles[~closed[labels]]]


def _surfaces(points: Indices) -> tuple[Indices, Mask]:
    """
    Return the surface number of each triangle (m,), and which surfaces are closed (s,).

    `points` (m, 3) are the vertex indices of the triangles. Two triangles are in one surface if
    they share an edge that no third triangle uses. A surface is closed if its triangles use each
    of its edges an even number of times.
    """
    # for each side of each triangle: sorted end points, triangle, number of the undirected edge
    ends = np.sort(np.stack([points, np.roll(points, -1, axis=1)], axis=-1).reshape(-1, 2))
    owner = np.repeat(np.arange(len(points)), 3)
    _, edge, uses = np.unique(ends[:, 0] * (points.max() + 1) + ends[:, 1],
                              return_inverse=True, return_counts=True)
    # connected components of a graph that links two triangles if only these two share an edge
    shared = owner[np.argsort(edge, kind='stable')][np.repeat(uses == 2, uses)].reshape(-1, 2)
    links = scipy.sparse.coo_array((np.ones(len(shared)), shared.T), shape=(len(points),) * 2)
    labels: Indices = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
    # count the uses of each edge within a surface: an odd number means a hole
    _, which, uses = np.unique(edge * len(points) + labels[owner], return_inverse=True,
                               return_counts=True)
    closed = np.ones(int(labels.max()) + 1, dtype=bool)
    closed[labels[owner[uses[which] % 2 == 1]]] = False
    return labels, closed
