"""How far two items are in each other at least, as it can be shown for triangles, too."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.scene.collision_geometry import CollisionGeometry
from ros2_ik.core.scene.convex_parts import point_inside
from ros2_ik.core.scene.geometry_library import coal, Placement

_DOT = coal.Capsule(1e-12, 1e-12)
_HERE = Placement(np.eye(3), np.zeros(3))
_MOST = 30       # points of each item that are tried


def sure_depth(one: CollisionGeometry, at: Any, other: CollisionGeometry, there: Any,
               enough: float) -> tuple[float, Array]:
    """
    Return a depth [m] that surely is reached, and a point (3,) that shows it.

    A ball round a point that is in one item, and a ball round it that is in the other, still
    meet when either item is moved by less than the sum of their radii. `at` and `there` are the
    items' placements (SE3); a depth above `enough` ends the search for a better point.
    """
    best, shown = -np.inf, np.zeros(3)
    for point in _points(one, at, other, there):
        depth = depth_of(one, at.actInv(point)) + depth_of(other, there.actInv(point))
        if depth > best:
            best, shown = depth, point
        if best > enough:
            break
    return best, shown


def depth_of(item: CollisionGeometry, point: Array) -> float:
    """Return how deep [m] a point (3,) of its frame is in an item, negative outside."""
    if item.solid is not None:
        clearance = item.solid.clearance(point)
        return clearance if item.solid.surely_contains(point) else -clearance
    return -float(coal.distance(item.geometry, _HERE, _DOT, Placement(np.eye(3), point),
                                coal.DistanceRequest(), coal.DistanceResult()))


def _points(one: CollisionGeometry, at: Any, other: CollisionGeometry,
            there: Any) -> Iterator[Array]:
    """Yield points of the root frame that may be deep in both, the likeliest first."""
    result = coal.DistanceResult()
    coal.distance(one.geometry, _placement(at), other.geometry, _placement(there),
                  coal.DistanceRequest(), result)
    ends = result.getNearestPoint1(), result.getNearestPoint2()
    yield from ((ends[0] + ends[1]) / 2, *ends)
    for item, place, beside, its_place in ((one, at, other, there), (other, there, one, at)):
        points = point_inside(item.geometry) if item.solid is None else item.solid.points
        moved = points @ place.rotation.T + place.translation
        local = (moved - its_place.translation) @ its_place.rotation
        box = beside.geometry.aabb_local
        near = moved[((local >= box.min_) & (local <= box.max_)).all(axis=1)]
        yield from near[::len(near) // _MOST + 1]


def _placement(place: Any) -> Any:
    return Placement(place.rotation, place.translation)
