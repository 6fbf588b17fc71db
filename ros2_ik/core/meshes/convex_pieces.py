"""
Convex decomposition: cuts a mesh along planes into pieces whose hulls together contain it.

The hull of the part of a solid in a box is that of the surface in the box and of the box's
corners inside the solid. So whatever the cuts are, the hulls contain surface and inside of a
closed mesh, and the surface of an open one. Cuts are chosen to make the hulls small, first where
most is gained, until they are a few percent larger than the mesh. Closed surfaces are cut one by
one, as they may overlap. Deterministic: the effort is counted, not timed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.meshes.cache import digest
from ros2_ik.core.meshes.mesh_solids import Enclosure, solids_of
from ros2_ik.core.meshes.meshes import cached_hulls, Hull, hull_of, mesh_volume, signed_volume

MOST_PIECES = 24
GOOD_ENOUGH = 0.05      # volume of the hulls above the mesh's
PART = 0.05             # of the volume, that a cut should take off
NAMESPACE = 'pieces-7'      # of the cache
MAX_EFFORT = 10_000_000     # triangles cut, in all trials
PLANE_TOLERANCE = 1e-6      # within which faces are in one plane [m]
HULL_TOLERANCE = 1e-9       # of points in hulls [m]


@dataclass(frozen=True)
class _Slice:
    """
    Part of a solid in a box from `low` (3,) to `high`, infinite where it is not cut.

    `surface` are its triangles, `lids` (no solid's outline, but closing) make volumes add up.
    """

    solid: '_Solid'
    surface: Array
    lids: Array
    low: Array
    high: Array
    hull: Hull
    excess: float


def convex_pieces(vertices: Array, triangles: Indices) -> list[Hull]:
    """
    Return convex pieces that contain a mesh, its hull alone if good enough; kept by content.

    A mesh with large holes has no volume to aim at: it is cut into as many as there may be.
    """
    return cached_hulls(NAMESPACE, key_of(vertices, triangles), lambda: _cut(vertices, triangles))


def key_of(vertices: Array, triangles: Indices) -> str:
    """Return the cache key of a mesh."""
    return digest(np.ascontiguousarray(vertices).tobytes(),
                  np.ascontiguousarray(triangles).tobytes())


def _cut(vertices: Array, triangles: Indices) -> list[Hull]:
    solids = [_Solid(vertices, faces) for faces in solids_of(vertices, triangles, MOST_PIECES)]
    uncut = np.zeros((0, 3, 3)), np.full(3, -np.inf), np.full(3, np.inf)
    slices = [solid.slice(solid.corners, *uncut) for solid in solids]
    size = sum(solid.volume or 0.0 for solid in solids)
    effort = 0
    while len(slices) < MOST_PIECES and sum(part.excess for part in slices) > GOOD_ENOUGH * size:
        slices.sort(key=lambda piece: piece.excess)
        worst = slices[-1]
        planes = _planes(worst)
        effort += len(planes) * (len(worst.surface) + len(worst.lids))
        if effort > MAX_EFFORT:
            break
        trials = [worst.solid.halves(worst, *plane) for plane in planes]
        halves = [pair for pair in trials if pair]
        slices[-1:] = min(halves, key=_merit) if halves else [replace(worst, excess=0.0)]
    hulls = _joined([piece.hull for piece in slices],
                    0.01 * (size or sum(piece.hull.volume for piece in slices)))
    wide = _are_wide(vertices[triangles])
    lost = np.setdiff1d(triangles[~wide], triangles[wide])
    return [*hulls, hull_of(vertices[lost])] if len(lost) else hulls


def _merit(halves: Iterable[_Slice]) -> tuple[float, float]:
    """
    Rate a cut, less is better.

    One that takes off a convex part, the larger the better, is better than any other: a wall of
    a bin makes no hull smaller until the last is off. Then what makes the hulls small.
    """
    halves = tuple(halves)
    convex = sum(piece.hull.volume for piece in halves
                 if piece.excess <= GOOD_ENOUGH / 2 * piece.hull.volume)
    whole = sum(piece.hull.volume - piece.excess for piece in halves)
    return (-convex if convex > PART * whole else 0.0,
            sum(piece.excess * piece.hull.volume for piece in halves))


class _Solid:
    """A closed surface, or the open rest of a mesh, and slices of it."""

    def __init__(self, vertices: Array, triangles: Indices) -> None:
        self.corners = vertices[triangles]
        self.volume = mesh_volume(vertices, triangles)
        self.step = 1e-7 * float(np.ptp(self.corners.reshape(-1, 3), axis=0).max())
        self._enclosure = Enclosure(self.corners)

    def slice(self, surface: Array, lids: Array, low: Array, high: Array) -> _Slice:
        step = self.step     # into the box: the surface in its sides may be of what is beside
        inner = [[side for side, _ in corner] for corner in product(*(
            ((a, a + step), (b, b - step)) for a, b in zip(low.tolist(), high.tolist(),
                                                           strict=True)))
            if np.isfinite(corner).all()
            and self._enclosure.has(np.array([near for _, near in corner]))]
        hull = hull_of(np.concatenate([surface.reshape(-1, 3), np.reshape(inner, (-1, 3))]))
        volume = 0.0 if self.volume is None else signed_volume(np.concatenate([surface, lids]))
        return _Slice(self, surface, lids, low, high, hull,
                      max(hull.volume - max(volume, 0.0), 0.0))

    def halves(self, piece: _Slice, axis: int, place: float) -> list[_Slice]:
        """Cut a slice in two; nothing if all of the surface is on one side."""
        below, above, edges = cut(piece.surface, axis, place)
        lids_below, lids_above, lid_edges = cut(piece.lids, axis, place)
        if not len(below) or not len(above):
            return []
        lid = np.concatenate([edges, lid_edges])
        if len(lid):     # a fan from one point closes the cut, whatever its outline
            lid[:, 0] = lid[0, 1]
        low, high = piece.low.copy(), piece.high.copy()
        low[axis] = high[axis] = place
        # faces in the plane whose solid is above close the lower side, but are not of it
        away = _faces_down(below, axis, place)
        floor, rest = below[away], below[~away]
        if not len(rest):
            return []
        return [self.slice(rest, np.concatenate([lids_below, lid, floor]), piece.low, high),
                self.slice(np.concatenate([above, floor]),
                           np.concatenate([lids_above, lid[:, [0, 2, 1]], floor[:, [0, 2, 1]]]),
                           low, piece.high)]


def _planes(piece: _Slice) -> list[tuple[int, float]]:
    """Return the planes to try: axis and place. Quarters, and where large flat faces are."""
    planes = []
    a, b, c = (piece.surface[:, corner] for corner in range(3))
    areas = np.abs(np.cross(b - a, c - a))
    for axis in range(3):
        low, high = piece.hull.vertices[:, axis].min(), piece.hull.vertices[:, axis].max()
        extent = high - low
        flat = areas[:, axis] > 0.999 * np.linalg.norm(areas, axis=1)
        tops = piece.surface[flat, :, axis].max(axis=1)
        levels, which = np.unique(np.round(tops / PLANE_TOLERANCE), return_inverse=True)
        levels = np.array([tops[which == i].max() for i in range(len(levels))])
        inside = (levels > low + 1e-3 * extent) & (levels < high - 1e-3 * extent)
        weights = np.bincount(which, areas[flat, axis], len(levels)) * inside
        largest = np.argsort(-weights, kind='stable')[:3]
        found = [*levels[largest[weights[largest] > 0]],
                 *(low + part * extent for part in (0.25, 0.5, 0.75))]
        planes += [(axis, float(place)) for place in found if low < place < high]
    return planes


def _faces_down(corners: Array, axis: int, place: float) -> Mask:
    """Return the triangles in the plane that face down or are degenerate."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    down = np.cross(first, second)[:, axis] < 1e-15
    there: Mask = down & (np.abs(corners[:, :, axis] - place).max(axis=1) <= PLANE_TOLERANCE)
    return there


def cut(corners: Array, axis: int, place: float) -> tuple[Array, Array, Array]:
    """
    Cut triangles (m, 3, 3) by the plane on which coordinate `axis` is `place`.

    Returns the triangles below and above, and a lid: the edges of its triangles from their second
    to their third corners close the lower side when joined with any point.
    """
    over = corners[:, :, axis] > place
    count = over.sum(axis=1)
    crossing = (count == 1) | (count == 2)
    lone = np.where(count[crossing] == 1, over[crossing].argmax(axis=1),
                    over[crossing].argmin(axis=1))
    turn = (lone[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(corners[crossing], turn[:, :, None], axis=1), 1, 0)
    p, q = _meeting(a, b, axis, place), _meeting(a, c, axis, place)
    tip = np.stack([a, p, q], axis=1)
    rest = np.concatenate([np.stack([p, b, c], axis=1), np.stack([p, c, q], axis=1)])
    up = count[crossing] == 1
    both = np.concatenate([up, up])
    # lines have no surface, but would make a hull as long
    tips, rests = _are_wide(tip), _are_wide(rest)
    below = np.concatenate([corners[count == 0], tip[~up & tips], rest[both & rests]])
    above = np.concatenate([corners[count == 3], tip[up & tips], rest[~both & rests]])
    lid = np.concatenate([np.stack([p, p, q], axis=1)[up], np.stack([p, q, p], axis=1)[~up]])
    return below, above, lid


def _are_wide(corners: Array) -> Mask:
    """Return which triangles (m, 3, 3) have an area: False for lines."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = np.linalg.norm(np.cross(first, second), axis=1)
    longest = np.maximum((first * first).sum(axis=1), (second * second).sum(axis=1))
    return np.asarray(areas > 1e-10 * longest)


def _meeting(start: Array, end: Array, axis: int, place: float) -> Array:
    """Points (m, 3) in which the edges meet the plane."""
    share = (place - start[:, axis]) / (end[:, axis] - start[:, axis])
    points = start + share[:, None] * (end - start)
    points[:, axis] = place
    return points


def _joined(hulls: list[Hull], bearable: float) -> list[Hull]:
    """Join pieces whose common hull is hardly larger than they are, the best pair first."""
    def loss(i: int, j: int) -> tuple[float, Hull]:
        both = hull_of(np.concatenate([hulls[i].vertices, hulls[j].vertices]))
        return both.volume - _at_least(hulls[i], hulls[j]), both

    hulls = list(hulls)
    known = {(i, j): loss(i, j) for j in range(len(hulls)) for i in range(j)}
    gone: set[int] = set()
    while known:
        i, j = min(known, key=lambda pair: (known[pair][0], pair))
        lost, both = known[i, j]
        bearable -= max(lost, 0.0)
        if bearable < 0:
            break
        gone |= {i, j}
        known = {pair: found for pair, found in known.items() if not {i, j} & set(pair)}
        hulls.append(both)
        new = len(hulls) - 1
        known.update({(k, new): loss(k, new) for k in range(new) if k not in gone})
    return [hull for index, hull in enumerate(hulls) if index not in gone]


def _at_least(one: Hull, other: Hull) -> float:
    """Volume of two pieces together, or less: all that is in both boxes counts once."""
    high = np.minimum(one.vertices.max(axis=0), other.vertices.max(axis=0))
    low = np.maximum(one.vertices.min(axis=0), other.vertices.min(axis=0))
    common = float(np.maximum(high - low, 0.0).prod())
    return one.volume + other.volume - min(common, one.volume, other.volume)
