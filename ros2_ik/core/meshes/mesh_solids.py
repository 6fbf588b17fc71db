"""
The closed surfaces of a mesh, and the points that its triangles enclose.

A mesh may be several closed surfaces that overlap, such as a bin of five boxes. Meshes of real
robots are often open: triangles are missing, are turned the wrong way round, or are there once
for each side.
"""

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.kernels.boxes import count_leaving

TWO_SIDED = 0.6     # share of different triangles, below which each is there for both sides
# axes of the rays: along those of the mesh they would meet edges of its boxes
_AXES = np.linalg.qr(np.array([[1.0, 0.3, 0.2], [-0.2, 1.0, 0.4], [0.5, -0.3, 1.0]]))[0]


class Enclosure:
    """
    The points that triangles enclose, given by their corners (m, 3, 3).

    A point is enclosed if at least half of six rays from it leave the triangles. So a few holes,
    or triangles turned the wrong way round, leave the inside of a mesh inside.
    """

    def __init__(self, corners: Array) -> None:
        self._corners = np.ascontiguousarray(corners @ _AXES)
        self._low, self._high = self._corners.min(axis=(0, 1)), self._corners.max(axis=(0, 1))

    def has(self, point: Array) -> bool:
        """Return whether a point (3,) off the triangles is enclosed."""
        place = point @ _AXES
        return bool((place >= self._low).all() and (place <= self._high).all()
                    and count_leaving.run(self._corners, place) >= 3)


def outward_surfaces(vertices: Array, triangles: Indices) -> tuple[Indices, Indices, Mask]:
    """
    Return triangles (m, 3), the surface of each (m,), and which surfaces are closed (s,).

    Closed surfaces are turned outward: a cavity inside a mesh counts as solid. Of triangles that
    are there for both sides one is kept; those that are lines are left out.
    """
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    points = same.reshape(-1)[triangles]
    proper = (points != np.roll(points, 1, axis=1)).all(axis=1)
    if proper.any():
        triangles, points = triangles[proper], points[proper]
    _, first = np.unique(np.sort(points, axis=1), axis=0, return_index=True)
    if len(first) < TWO_SIDED * len(points):
        triangles, points = triangles[first], points[first]
    labels, closed = _surfaces(points)
    a, b, c = np.moveaxis(vertices[triangles] - vertices[triangles[0, 0]], 1, 0)
    volumes = np.bincount(labels, np.einsum('ij,ij->i', a, np.cross(b, c)))
    inward = (closed & (volumes < 0))[labels]
    return np.where(inward[:, None], triangles[:, ::-1], triangles), labels, closed


def solids_of(vertices: Array, triangles: Indices, most: int) -> list[Indices]:
    """
    Split the triangles (m, 3) of a mesh into closed surfaces, turned outward, and an open rest.

    They stay together where there would be more than `most`.
    """
    triangles, labels, closed = outward_surfaces(vertices, triangles)
    if closed.sum() + (not closed.all()) > most:
        return [triangles]
    solids = [triangles[labels == label] for label in np.flatnonzero(closed)]
    return solids if closed.all() else [*solids, triangles[~closed[labels]]]


def _surfaces(points: Indices) -> tuple[Indices, Mask]:
    """
    Return the surface of each triangle (m,), and which surfaces are closed.

    `points` (m, 3) are numbers of the triangles' corners. Triangles are of one surface where
    they alone share an edge, and it is closed where each of its edges is used an even number of
    times.
    """
    ends = np.sort(np.stack([points, np.roll(points, -1, axis=1)], axis=-1).reshape(-1, 2))
    owner = np.repeat(np.arange(len(points)), 3)
    _, edge, uses = np.unique(ends[:, 0] * (points.max() + 1) + ends[:, 1],
                              return_inverse=True, return_counts=True)
    shared = owner[np.argsort(edge, kind='stable')][np.repeat(uses == 2, uses)].reshape(-1, 2)
    links = scipy.sparse.coo_array((np.ones(len(shared)), shared.T), shape=(len(points),) * 2)
    labels: Indices = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
    _, which, uses = np.unique(edge * len(points) + labels[owner], return_inverse=True,
                               return_counts=True)
    closed = np.ones(int(labels.max()) + 1, dtype=bool)
    closed[labels[owner[uses[which] % 2 == 1]]] = False
    return labels, closed
