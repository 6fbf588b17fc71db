"""Polygons cut into triangles."""

import numpy as np

from ros2_ik.core.arrays import Array, Indices, Mask

_ROUNDING = 1e-7          # of the polygon's area; files have numbers of seven digits
_MOST_CORNERS = 2000      # of a polygon that is not convex: the time grows with the square


def triangulated(vertices: Array, counts: Indices, corners: Indices) -> Indices:
    """
    Return triangles (m, 3) for polygons with so many corners each, all in one row.

    Polygons with less than three corners have no surface. Raises ValueError for vertices that
    are not there or not finite, and for polygons that cross themselves.
    """
    if not np.isfinite(vertices).all():
        raise ValueError('it has vertices that are not finite')
    if corners.size and not 0 <= corners.min() <= corners.max() < len(vertices):
        wrong = corners.min() if corners.min() < 0 else corners.max()
        raise ValueError(f'a polygon has vertex {wrong}; there are {len(vertices)}')
    if (counts < 0).any() or counts.sum() != len(corners):
        raise ValueError(f'its polygons have {counts.sum()} corners, but {len(corners)} are given')
    found, starts = [np.zeros((0, 3), dtype=np.intp)], np.cumsum(counts) - counts
    for count in np.unique(counts[counts >= 3]).tolist():
        polygons = corners[starts[counts == count][:, None] + np.arange(count)]
        convex = _is_convex(vertices[polygons]) if count > 3 else np.ones(len(polygons), bool)
        fan = np.array([(0, i, i + 1) for i in range(1, count - 1)])
        found.append(polygons[convex][:, fan].reshape(-1, 3))
        found += [polygon[_clipped(vertices[polygon])] for polygon in polygons[~convex]]
    return np.concatenate(found)


def _is_convex(points: Array) -> Mask:
    """Return whether each of the polygons (k, n, 3) is convex seen along its normal."""
    points = points - points[:, :1]
    edges = np.roll(points, -1, axis=1) - points
    turns = np.cross(edges, np.roll(edges, -1, axis=1))
    fan = np.cross(points[:, 1:-1], points[:, 2:])
    normals = fan.sum(axis=1)
    least = np.minimum(np.einsum('kni,ki->kn', turns, normals).min(axis=1),
                       np.einsum('kni,ki->kn', fan, normals).min(axis=1))
    return np.asarray(least >= -_ROUNDING * (normals ** 2).sum(axis=1))


def _clipped(points: Array) -> Indices:
    """Return the triangles of one polygon (n, 3), cut off ear by ear."""
    if len(points) > _MOST_CORNERS:
        raise ValueError(f'a polygon that is not convex has {len(points)} corners; at most '
                         f'{_MOST_CORNERS} are read')
    flat = _projected(points)
    area, left, triangles = _area(flat, range(len(flat))), list(range(len(flat))), []
    while len(left) > 3:
        at = _ear(flat, left, -_ROUNDING * area)
        triangles.append([left[at - 1], left[at], left[(at + 1) % len(left)]])
        del left[at]
    triangles.append(left)
    covered = sum(abs(_area(flat, triangle)) for triangle in triangles)
    if not covered <= area * (1 + 1e-5):
        raise ValueError('a polygon crosses itself')
    return np.array(triangles, dtype=np.intp)


def _projected(points: Array) -> Array:
    """Return a polygon's corners (n, 2), so that it turns left."""
    points = points - points[0]
    normal = np.cross(points[1:-1], points[2:]).sum(axis=0)
    normal /= np.linalg.norm(normal)
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    return np.asarray(points @ np.stack([first, np.cross(normal, first)]).T)


def _area(flat: Array, corners: 'range | list[int]') -> float:
    x, y = flat[list(corners)].T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def _ear(flat: Array, left: list[int], least: float) -> int:
    """Return where a corner can be cut off: it turns left and holds no other corner."""
    points = flat[left]
    before, after = np.roll(points, 1, axis=0), np.roll(points, -1, axis=0)
    turns = _cross(points - before, after - points)
    for at in np.flatnonzero(turns >= least).tolist():
        a, b, c = before[at], points[at], after[at]
        inside = ((_cross(b - a, points - a) > 0) & (_cross(c - b, points - b) > 0)
                  & (_cross(a - c, points - c) > 0))
        if not inside.any() and not _through(points, at):
            return int(at)
    return int(turns.argmax())     # none is sure: what is covered is checked in the end


def _through(points: Array, at: int) -> bool:
    """Return whether a corner that turns right lies on the cut itself, between its ends."""
    a, c = points[at - 1], points[(at + 1) % len(points)]
    along = (points - a) @ (c - a)
    length = (c - a) @ (c - a)
    on = (np.abs(_cross(c - a, points - a)) <= 1e-12 * length) & (along > 1e-9 * length) \
        & (along < (1 - 1e-9) * length)
    on[at] = False
    return bool(on.any())


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
