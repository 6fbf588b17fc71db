"""
Convex decomposition: cut a mesh along planes into pieces whose hulls together contain the mesh.

Axis-aligned planes divide space into boxes. The hull of the solid in one box is the hull of two
sets of points: the surface in the box, and the corners of the box that lie inside the solid.
Wherever the planes are, these hulls together contain the solid (of an open mesh, the surface).

The piece with the largest excess (hull volume minus solid volume) is cut first. The best plane
splits off the largest convex part or, if such parts are small, leaves the least excess. Cutting
ends when the total excess is a few percent of the volume, or at a limit on pieces or effort. The
effort counts triangles, not time, so results are reproducible. Closed surfaces are cut separately.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product

import numpy as np

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.meshes.mesh_solids import Enclosure, solids_of
from ros2_ik.core.meshes.meshes import area_vectors, Hull, hull_of, mesh_volume

MAX_PIECES = 24             # largest number of pieces before merging
MAX_EXCESS = 0.05           # cutting ends when total excess / volume of the mesh is at most this
MIN_CONVEX_SHARE = 0.05     # a cut is preferred if convex halves exceed this share of the volume
MAX_MERGE_LOSS = 0.01       # volume added by all merges / volume of the mesh
MAX_EFFORT = 10_000_000     # number of triangles that all trial cuts together may process
PLANE_TOLERANCE = 1e-6      # distance within which faces are in one plane [m]
HULL_TOLERANCE = 1e-9       # distance outside a hull at which a point still counts as inside [m]


@dataclass(frozen=True)
class _Slice:
    """
    The part of a solid in an axis-aligned box from `low` (3,) to `high` (3,) [m].

    Sides of the box that are not cuts are at infinity; along at least one axis, at most one side
    is a cut. `surface` (n, 3, 3) are the triangles of the solid in the box. `excess` is hull
    volume minus solid volume in the box [m^3].
    """

    solid: '_Solid'
    surface: Array
    low: Array
    high: Array
    hull: Hull
    excess: float


def convex_pieces(vertices: Array, triangles: Indices) -> list[Hull]:
    """
    Return convex pieces that together contain a mesh; this takes seconds to minutes.

    If the hull of each closed surface is accurate enough, nothing is cut. A mesh with large holes
    has no volume to compare with; it is cut until a limit on pieces or effort is reached.
    """
    solids = [_Solid(vertices, faces) for faces in solids_of(vertices, triangles, MAX_PIECES)]
    uncut = np.full(3, -np.inf), np.full(3, np.inf)
    slices = [solid.slice(solid.corners, *uncut) for solid in solids]
    size = sum(solid.volume or 0.0 for solid in solids)
    effort = 0
    # greedy: cut the slice with the largest excess along the best of its candidate planes
    while len(slices) < MAX_PIECES and sum(part.excess for part in slices) > MAX_EXCESS * size:
        slices.sort(key=lambda piece: piece.excess)
        worst = slices[-1]
        planes = _planes(worst)
        effort += len(planes) * len(worst.surface)
        if effort > MAX_EFFORT:
            break
        trials = [worst.solid.halves(worst, *plane) for plane in planes]
        halves = [pair for pair in trials if pair]
        # a slice that no plane divides gets excess 0, so that it is not selected again
        slices[-1:] = min(halves, key=_cut_cost) if halves else [replace(worst, excess=0.0)]
    hulls = _merged([piece.hull for piece in slices],
                    MAX_MERGE_LOSS * (size or sum(piece.hull.volume for piece in slices)))
    # cuts drop degenerate triangles; the vertices that only these triangles use get one more hull
    wide = _have_area(vertices[triangles])
    lost = np.setdiff1d(triangles[~wide], triangles[wide])
    return [*hulls, hull_of(vertices[lost])] if len(lost) else hulls


def _cut_cost(halves: Iterable[_Slice]) -> tuple[float, float]:
    """
    Return the cost of a cut, to be compared lexicographically.

    The first number is minus the volume of convex halves, 0 if this volume is small; the second
    number is the sum of excess times hull volume over both halves. Excess alone misleads: cutting
    a wall off a bin does not shrink the hull of the other walls until the last wall is cut off.
    """
    halves = tuple(halves)
    convex = sum(piece.hull.volume for piece in halves
                 if piece.excess <= MAX_EXCESS / 2 * piece.hull.volume)
    whole = sum(piece.hull.volume - piece.excess for piece in halves)
    return (-convex if convex > MIN_CONVEX_SHARE * whole else 0.0,
            sum(piece.excess * piece.hull.volume for piece in halves))


class _Solid:
    """A surface of a mesh, or several together (see `solids_of`), to be cut into slices."""

    def __init__(self, vertices: Array, triangles: Indices) -> None:
        self.corners = vertices[triangles]
        self.volume = mesh_volume(vertices, triangles)
        # distance inside a box at which its corners are tested [m]: 1e-7 of the solid's extent
        self.step = 1e-7 * float(np.ptp(self.corners.reshape(-1, 3), axis=0).max())
        self._enclosure = Enclosure(self.corners)

    def slice(self, surface: Array, low: Array, high: Array) -> _Slice:
        # Corners of the box that lie inside the solid. A corner is tested slightly inside the box,
        # because triangles in a side of the box may belong to the neighbouring slice.
        step = self.step
        inner = [[side for side, _ in corner] for corner in product(*(
            ((a, a + step), (b, b - step)) for a, b in zip(low.tolist(), high.tolist(),
                                                           strict=True)))
            if np.isfinite(corner).all()
            and self._enclosure.contains(np.array([near for _, near in corner]))]
        hull = hull_of(np.concatenate([surface.reshape(-1, 3), np.reshape(inner, (-1, 3))]))
        # without a volume (open mesh) the whole hull counts as excess, so that cuts go on
        volume = 0.0 if self.volume is None else _volume_between(surface, low, high)
        return _Slice(self, surface, low, high, hull, max(hull.volume - max(volume, 0.0), 0.0))

    def halves(self, piece: _Slice, axis: int, level: float) -> list[_Slice]:
        """Cut a slice in two; return [] if the whole surface is on one side of the plane."""
        below, above = cut(piece.surface, axis, level)
        # triangles in the plane with the solid above them belong to the upper slice
        floor = _faces_down(below, axis, level)
        lower, upper = below[~floor], np.concatenate([above, below[floor]])
        if not len(lower) or not len(above):
            return []
        low, high = piece.low.copy(), piece.high.copy()
        low[axis] = high[axis] = level
        return [self.slice(lower, piece.low, high), self.slice(upper, low, piece.high)]


def _volume_between(surface: Array, low: Array, high: Array) -> float:
    """Return a closed solid's volume [m^3] in a box, from its surface (m, 3, 3) in the box."""
    # Divergence theorem with the field (x - c, 0, 0); x is an axis with at most one cut, at c.
    # The surface is open at the sides of the box, but the field has no flux through them.
    cuts = np.stack([low, high], axis=1)
    axis = int(np.isfinite(cuts).sum(axis=1).argmin())
    c = float(cuts[axis][np.isfinite(cuts[axis])].sum())
    areas = area_vectors(surface)[:, axis]
    return float(areas @ (surface[:, :, axis].mean(axis=1) - c))


def _planes(piece: _Slice) -> list[tuple[int, float]]:
    """Return planes (axis, coordinate) to try: quarters of the extent and large flat faces."""
    planes = []
    areas = np.abs(area_vectors(piece.surface))
    cuts = np.isfinite(piece.low).astype(int) + np.isfinite(piece.high)
    for axis in range(3):
        # keep at least one axis with an uncut side, see `_volume_between`
        if cuts[axis] == 1 and cuts.sum() == 5:
            continue
        low, high = piece.hull.vertices[:, axis].min(), piece.hull.vertices[:, axis].max()
        extent = high - low
        # triangles whose normal is within 2.6 degrees of the axis
        flat = areas[:, axis] > 0.999 * np.linalg.norm(areas, axis=1)
        # group the coordinates of flat faces by PLANE_TOLERANCE; a plane at the highest coordinate
        # of a group cuts none of its faces
        tops = piece.surface[flat, :, axis].max(axis=1)
        levels, which = np.unique(np.round(tops / PLANE_TOLERANCE), return_inverse=True)
        levels = np.array([tops[which == i].max() for i in range(len(levels))])
        # the three levels with the largest flat area, except levels at the ends of the slice
        inside = (levels > low + 1e-3 * extent) & (levels < high - 1e-3 * extent)
        weights = np.bincount(which, areas[flat, axis], len(levels)) * inside
        largest = np.argsort(-weights, kind='stable')[:3]
        candidates = [*levels[largest[weights[largest] > 0]],
                      *(low + part * extent for part in (0.25, 0.5, 0.75))]
        planes += [(axis, float(level)) for level in candidates if low < level < high]
    return planes


def _faces_down(corners: Array, axis: int, level: float) -> Mask:
    """Return a mask (m,): the triangles in the plane `level` that face -axis or are degenerate."""
    down = area_vectors(corners)[:, axis] < 5e-16
    faces: Mask = down & (np.abs(corners[:, :, axis] - level).max(axis=1) <= PLANE_TOLERANCE)
    return faces


def cut(corners: Array, axis: int, level: float) -> tuple[Array, Array]:
    """Cut triangles (m, 3, 3) where coordinate `axis` is `level`; return parts below and above."""
    over = corners[:, :, axis] > level
    count = over.sum(axis=1)
    # a triangle that crosses the plane has one lone corner a on one side, and b, c on the other
    crossing = (count == 1) | (count == 2)
    lone = np.where(count[crossing] == 1, over[crossing].argmax(axis=1),
                    over[crossing].argmin(axis=1))
    order = (lone[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(corners[crossing], order[:, :, None], axis=1), 1, 0)
    # edges ab, ac cross the plane at p, q: triangle apq is on one side, quad pbcq on the other
    p, q = _crossings(a, b, axis, level), _crossings(a, c, axis, level)
    tip = np.stack([a, p, q], axis=1)
    rest = np.concatenate([np.stack([p, b, c], axis=1), np.stack([p, c, q], axis=1)])
    up = count[crossing] == 1
    both = np.concatenate([up, up])
    # drop degenerate triangles: they have no area, but would extend the hull of a half
    tips, rests = _have_area(tip), _have_area(rest)
    below = np.concatenate([corners[count == 0], tip[~up & tips], rest[both & rests]])
    above = np.concatenate([corners[count == 3], tip[up & tips], rest[~both & rests]])
    return below, above


def _have_area(corners: Array) -> Mask:
    """Return the mask (m,) of triangles (m, 3, 3) that are not degenerate (lines or points)."""
    longest = np.square(corners[:, 1:] - corners[:, :1]).sum(axis=2).max(axis=1)
    return np.asarray(np.linalg.norm(area_vectors(corners), axis=1) > 0.5e-10 * longest)


def _crossings(start: Array, end: Array, axis: int, level: float) -> Array:
    """Return the points (m, 3) where edges from `start` to `end` (m, 3) cross the plane."""
    share = (level - start[:, axis]) / (end[:, axis] - start[:, axis])
    points = start + share[:, None] * (end - start)
    # set exactly: a later cut would cut off a point that rounding moved off the plane
    points[:, axis] = level
    return points


def _merged(hulls: list[Hull], max_loss: float) -> list[Hull]:
    """
    Merge pairs of hulls whose common hull adds little volume, the pair that adds least first.

    `max_loss` is the volume that all merges together may add [m^3].
    """
    @cache
    def merge(one: Hull, other: Hull) -> tuple[float, Hull]:
        both = hull_of(np.concatenate([one.vertices, other.vertices]))
        return both.volume - _least_union(one, other), both

    while len(hulls) > 1:
        pair = min(combinations(hulls, 2), key=lambda pair: merge(*pair)[0])
        loss, both = merge(*pair)
        max_loss -= max(loss, 0.0)
        if max_loss < 0:
            break
        hulls = [*(hull for hull in hulls if hull not in pair), both]
    return hulls


def _least_union(one: Hull, other: Hull) -> float:
    """Return a lower bound on the volume of the union of two hulls [m^3]."""
    # the hulls overlap at most in the intersection of their bounding boxes
    high = np.minimum(one.vertices.max(axis=0), other.vertices.max(axis=0))
    low = np.maximum(one.vertices.min(axis=0), other.vertices.min(axis=0))
    common = float(np.maximum(high - low, 0.0).prod())
    return one.volume + other.volume - min(common, one.volume, other.volume)
