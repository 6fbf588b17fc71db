"""The convex hull of points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ros2_ik.core.arrays import Array
from ros2_ik.core.meshes.meshes import cached_hull, Hull
from ros2_ik.core.scene.shapes.hulled_shape import HulledShape
from ros2_ik.core.scene.shapes.shape import points_of, register_shape


@register_shape('convex_hull')
@dataclass(frozen=True, eq=False)
class ConvexHull(HulledShape):
    """The hull of `points` (n, 3); 0.1 mm thick where they are flat."""

    points: Array

    def __post_init__(self) -> None:
        self._set(points=points_of(self.points, 'the points of a convex hull'))

    @cached_property
    def hulls(self) -> tuple[Hull, ...]:
        return (cached_hull(self.points),)

    @property
    def geometry(self) -> Any:
        return self._parts[0]
