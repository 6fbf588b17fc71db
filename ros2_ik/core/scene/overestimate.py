"""
How much larger than a mesh is what stands for it, measured along lines.

Where a line goes in and out of mesh and hulls is exact, and what is there several times counts
once. Which lines: evenly spread ones along each axis, always the same.
"""

from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.cache import digest, is_remembered, remembered
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.meshes import Hull, mesh_volume, triangle_tree

ROOM = 'overestimates-1'  # of the cache
_LINES = 150             # along each axis
_EFFORT = 10_000_000     # lines times triangles, at most, along each axis
_DUST = 1e-9             # m, of a line; less is rounding


class Overestimate(NamedTuple):
    """
    What is in the hulls but not in the mesh.

    `share` is its volume by that of the mesh, None for a mesh that encloses nothing; `distance`
    [m] is how far from the mesh it goes.
    """

    share: float | None
    distance: float


def overestimate(hulls: tuple[Hull, ...], vertices: Array, triangles: Indices) -> Overestimate:
    """Compare hulls with the mesh that they contain; kept by content."""
    found = remembered(ROOM, _key(hulls, vertices, triangles), lambda: {
        'measured': np.array(_measured(hulls, vertices, triangles))})['measured'].tolist()
    return Overestimate(None if np.isnan(found[0]) else found[0], found[1])


def is_measured(hulls: tuple[Hull, ...], vertices: Array, triangles: Indices) -> bool:
    """Return whether `overestimate` was asked for before, and is read rather than measured."""
    return is_remembered(ROOM, _key(hulls, vertices, triangles))


def _key(hulls: tuple[Hull, ...], vertices: Array, triangles: Indices) -> str:
    return digest(vertices.tobytes(), triangles.tobytes(),
                  *(part.tobytes() for hull in hulls for part in hull[:2]))


def _measured(hulls: tuple[Hull, ...], vertices: Array,
              triangles: Indices) -> tuple[float, float]:
    """Share, NaN for an open mesh, and distance."""
    closed = mesh_volume(vertices, triangles) is not None
    corners, points = vertices[triangles], np.concatenate([hull.vertices for hull in hulls])
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    count = max(min(_LINES, _EFFORT // len(triangles)), 10)
    outside, inside, middles = 0.0, 0.0, []
    for axis in range(3):
        turn = [(axis + 1) % 3, (axis + 2) % 3, axis]
        at = low[turn[:2]] + size[turn[:2]] * _spread(count)
        share = size[turn[:2]].prod() / count / 3
        events = _of_hulls(hulls, turn, at) + (_of_mesh(corners, turn, at) if closed else [])
        for line, (starts, ends, solid) in enumerate(_swept(events, count)):
            outside, inside = outside + share * (ends - starts).sum(), inside + share * solid
            for part in (0.25, 0.5, 0.75):
                spots = np.empty((len(starts), 3))
                spots[:, turn[:2]], spots[:, axis] = at[line], starts + part * (ends - starts)
                middles.append(spots)
    distance = _farthest(np.concatenate(middles), vertices, triangles)
    return outside / inside if closed and inside else np.nan, distance


def _spread(count: int) -> Array:
    """Points spread evenly over the unit square, (count, 2)."""
    plastic = 1.32471795724474602596     # Roberts, The unreasonable effectiveness of ... (2018)
    return (0.5 + np.outer(np.arange(1, count + 1), [1 / plastic, 1 / plastic ** 2])) % 1.0


Events = list[tuple[Array, Indices, int, Array]]   # heights, lines, 0 hulls or 1 mesh, changes


def _of_mesh(corners: Array, turn: list[int], at: Array) -> Events:
    """Where lines cross triangles: in, where these look down."""
    found: Events = []
    for lines in np.array_split(np.arange(len(at)), len(at) * len(corners) // 1_000_000 + 1):
        p = at[lines, None, None]
        a = corners[None, :, :, turn[:2]] - p
        b = np.roll(a, -1, axis=2)
        sides = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
        hit = (sides > 0).all(axis=2) | (sides < 0).all(axis=2)
        line, face = np.nonzero(hit)
        weights = sides[line, face][:, [1, 2, 0]]
        heights = corners[face][:, :, turn[2]]
        total = weights.sum(axis=1)
        found.append(((weights * heights).sum(axis=1) / total, lines[line], 1, -np.sign(total)))
    return found


def _of_hulls(hulls: tuple[Hull, ...], turn: list[int], at: Array) -> Events:
    """Where lines go into hulls and out."""
    found: Events = []
    for hull in hulls:
        a, b, c = (hull.vertices[hull.faces[:, corner]][:, turn] for corner in range(3))
        normals = np.cross(b - a, c - a)
        room = np.einsum('ij,ij->i', a, normals) - at @ normals[:, :2].T
        with np.errstate(divide='ignore', invalid='ignore'):
            heights = room / normals[:, 2]
        starts = np.where(normals[:, 2] < 0, heights, -np.inf).max(axis=1)
        ends = np.where(normals[:, 2] > 0, heights, np.inf).min(axis=1)
        beside = ((normals[:, 2] == 0) & (room < 0)).any(axis=1)
        lines = np.flatnonzero(~beside & (ends > starts))
        found += [(starts[lines], lines, 0, np.ones(len(lines))),
                  (ends[lines], lines, 0, -np.ones(len(lines)))]
    return found


def _swept(events: Events, count: int) -> list[tuple[Array, Array, float]]:
    """Return for each line from where to where it is in hulls only, and how long in the mesh."""
    heights, lines, changes = (np.concatenate([event[i] for event in events]) for i in (0, 1, 3))
    mesh = np.concatenate([np.full(len(event[0]), event[2]) for event in events])
    order = np.lexsort((heights, lines))
    ends = np.searchsorted(lines[order], np.arange(1, count))
    found = []
    for some in np.split(order, ends):
        lengths = np.diff(heights[some])
        held = np.cumsum(np.where(mesh[some] == 0, changes[some], 0.0))[:-1] > 0.5
        solid = np.cumsum(np.where(mesh[some] == 1, changes[some], 0.0))[:-1] > 0.5
        apart = held & ~solid & (lengths > _DUST)
        found.append((heights[some][:-1][apart], heights[some][1:][apart],
                      float(lengths[solid].sum())))
    return found


def _farthest(points: Array, vertices: Array, triangles: Indices) -> float:
    """Distance [m] from the mesh of the farthest point, 0 without any."""
    tree: Any = triangle_tree(vertices, triangles)
    dot, here, farthest = coal.Capsule(1e-12, 1e-12), Placement(np.eye(3), np.zeros(3)), 0.0
    for point in points:
        result = coal.DistanceResult()
        farthest = max(farthest, coal.distance(tree, here, dot, Placement(np.eye(3), point),
                                               coal.DistanceRequest(), result))
    return float(farthest)
