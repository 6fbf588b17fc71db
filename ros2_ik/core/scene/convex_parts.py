"""The convex parts that stand for items in distances, and points that are inside shapes."""

from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.scene.collision_geometry import CollisionGeometry
from ros2_ik.core.scene.geometry_library import coal


def part_geometries(item: CollisionGeometry) -> tuple[Any, ...]:
    """Return the convex parts of an item in its own frame, its hull before they are made."""
    parts = None if item.solid is None else item.solid.part_geometries
    return (item.geometry,) if parts is None else parts


def point_inside(geometry: Any) -> Array:
    """Return points (k, 3) of a solid: one of a convex one, the cells' middles of an octree."""
    if isinstance(geometry, coal.OcTree):
        return np.array([box[:3] for box in geometry.toBoxes()])
    if isinstance(geometry, coal.ConvexBase):
        centre: Array = np.reshape(geometry.points(), (-1, 3)).mean(axis=0, keepdims=True)
        return centre
    return np.zeros((1, 3))      # of what has a formula, which is centred
