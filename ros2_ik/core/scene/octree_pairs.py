"""
Octrees against octrees and ellipsoids, cell by cell.

coal 3.0 reports a contact as soon as the boxes round whole branches of two octrees meet (its
issue 603), and of two that are in each other any depth, not the largest. Where they are apart
its distance is right. From an ellipsoid it is not: of half of all, up to 0.3 m too much.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.scene.geometry_library import coal, Placement
from ros2_ik.core.scene.pair_model import PairModel

_AT_ONCE = 1000      # cells of one side whose neighbours are looked at together


class Cells(NamedTuple):
    """Cubes: their centres (n, 3), half their edges (n,) [m], and a tree of the centres."""

    centres: Array
    halves: Array
    tree: Any   # scipy.spatial.cKDTree

    def box(self, i: int, place: Any) -> tuple[Any, Any]:
        """Return a cell as coal has it, and where it is when the octree is at `place` (SE3)."""
        edge = 2 * float(self.halves[i])
        return coal.Box(edge, edge, edge), Placement(place.rotation, place.act(self.centres[i]))


class OctreePairs:
    """
    The pairs of a model that are of octrees.

    `numbers` are those of two octrees, `ellipsoids` those of one and an ellipsoid.
    """

    def __init__(self, pairs: PairModel) -> None:
        trees = np.array([isinstance(item.geometry, coal.OcTree) for item in pairs.items],
                         dtype=bool)
        self._pairs, self._cells = pairs, dict[int, Cells]()
        rounds = np.array([isinstance(item.geometry, coal.Ellipsoid) for item in pairs.items],
                          dtype=bool)
        first, second = pairs.pairs.T
        self.numbers = frozenset(np.flatnonzero(trees[first] & trees[second]).tolist())
        self.ellipsoids = frozenset(np.flatnonzero(trees[first] & rounds[second]).tolist())

    def touch(self, k: int, places: Any) -> bool:
        """Return whether a pair touches, when the items are at `places` (SE3)."""
        i, j = self._pairs.pairs[k].tolist()
        least = -float(self._pairs.margins[k])
        return any(depths.max() >= least for depths, _, _ in _neighbours(
            self._of(i), places[i], self._of(j), places[j]))

    def find_deepest(self, k: int, places: Any, result: Any) -> None:
        """Put the distance of the two cells that are deepest in each other into coal's result."""
        i, j = self._pairs.pairs[k].tolist()
        one, other = self._of(i), self._of(j)
        found = [(float(depths[best]), int(first[best]), int(second[best]))
                 for depths, first, second in _neighbours(one, places[i], other, places[j])
                 for best in (depths.argmax(),)]
        if found:
            _, first, second = max(found)
            result.clear()
            coal.distance(*one.box(first, places[i]), *other.box(second, places[j]),
                          self._pairs.data.distanceRequests[k], result)

    def find_nearest(self, k: int, places: Any, result: Any) -> None:
        """Put the distance of an ellipsoid and the cell next to it into coal's result."""
        i, j = self._pairs.pairs[k].tolist()
        cells, ellipsoid = self._of(i), self._pairs.items[j].geometry
        request, place = self._pairs.data.distanceRequests[k], places[j]
        there = Placement(place.rotation, place.translation)
        away = cells.centres - places[i].actInv(place.translation)
        # balls round both are no farther from each other, and in contact as deep
        least = (np.linalg.norm(away, axis=1) - 3 ** 0.5 * cells.halves
                 - float(np.max(ellipsoid.radii)))
        nearest, at = np.inf, -1
        for cell in least.argsort().tolist():
            if least[cell] >= nearest:
                break
            distance = coal.distance(*cells.box(cell, places[i]), ellipsoid, there, request,
                                     coal.DistanceResult())
            if distance < nearest:
                nearest, at = distance, cell
        result.clear()
        coal.distance(*cells.box(at, places[i]), ellipsoid, there, request, result)

    def _of(self, i: int) -> Cells:
        if i not in self._cells:
            boxes = np.array(self._pairs.items[i].geometry.toBoxes())
            self._cells[i] = Cells(boxes[:, :3], boxes[:, 3] / 2,
                                   scipy.spatial.cKDTree(boxes[:, :3]))
        return self._cells[i]


def _neighbours(one: Cells, at: Any, other: Cells, there: Any
                ) -> Iterator[tuple[Array, Indices, Indices]]:
    """
    Yield cells of two octrees that may touch: depths (m,) [m] and the numbers of both (m,).

    The depth is the least motion that parts two cubes, negative where there is an axis along
    which they are apart: one of the normals of their faces, or across an edge of each.
    """
    placed = there.actInv(at)
    centres = one.centres @ placed.rotation.T + placed.translation
    reach = 3 ** 0.5 * (one.halves.max() + other.halves.max())
    low, high = other.centres.min(axis=0) - reach, other.centres.max(axis=0) + reach
    near = np.flatnonzero(((centres >= low) & (centres <= high)).all(axis=1))
    axes = _axes(placed.rotation)
    sizes = np.abs(axes @ placed.rotation).sum(axis=1), np.abs(axes).sum(axis=1)
    for start in range(0, len(near), _AT_ONCE):
        some = near[start:start + _AT_ONCE]
        lists = other.tree.query_ball_point(centres[some], reach * (1 + 1e-9))
        first = np.repeat(some, [len(found) for found in lists])
        second: Indices = np.concatenate(lists).astype(np.intp)
        if len(first):
            apart = np.abs((centres[first] - other.centres[second]) @ axes.T)
            filled = (np.outer(one.halves[first], sizes[0])
                      + np.outer(other.halves[second], sizes[1]))
            yield (filled - apart).min(axis=1), first, second


def _axes(rotation: Array) -> Array:
    """Return the unit axes (n, 3) along which two cubes, turned to each other, can be parted."""
    across = np.cross(np.eye(3)[:, None], rotation.T[None]).reshape(-1, 3)
    lengths = np.linalg.norm(across, axis=1)
    some = lengths > 1e-9      # of parallel edges it is no axis, and that of a face parts them
    return np.concatenate([np.eye(3), rotation.T, across[some] / lengths[some, None]])
