"""The convex hull of points."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ros2_ik.core.arrays import Array
from ros2_ik.core.scene.meshes import cached_hull, Hull
from ros2_ik.core.scene.shapes.hulled_shape import HulledShape
from ros2_ik.core.scene.shapes.shape import checked_padding, points_of, register_shape


@register_shape('convex_hull')
@dataclass(frozen=True, eq=False)
class ConvexHull(HulledShape):
    """The hull of `points` (n, 3), grown by `padding`; 0.1 mm thick where they are flat."""

    points: Array
    padding: float = 0.0

    def __post_init__(self) -> None:
        self._set(points=points_of(self.points, 'the points of a convex hull'),
                  padding=checked_padding(self.padding))

    @cached_property
    def hulls(self) -> tuple[Hull, ...]:
        return (cached_hull(self.points, self.padding),)

    @property
    def geometry(self) -> Any:
        return self._parts[0]

    def padded(self, padding: float) -> 'ConvexHull':
        return replace(self, padding=self.padding + checked_padding(padding))
