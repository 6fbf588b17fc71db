"""Shapes that coal gets as convex solids, and the convex hull of points."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ros2_ik.core.meshes.meshes import cached_hull, Hull
from ros2_ik.core.scene.shapes.shape import bounded, Points, register_shape, Shape


@dataclass(frozen=True, eq=False)
class HulledShape(Shape):
    """Shape that coal gets as convex solids."""

    @property
    @abstractmethod
    def hulls(self) -> tuple[Hull, ...]:
        """The convex solids."""

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        return tuple(bounded(hull.geometry()) for hull in self.hulls)

    def parts(self) -> tuple[Any, ...]:
        return self._parts


@register_shape('convex_hull')
@dataclass(frozen=True, eq=False)
class ConvexHull(HulledShape):
    """The hull of `points` (n, 3); 0.1 mm thick where they are flat."""

    points: Points

    @cached_property
    def hulls(self) -> tuple[Hull, ...]:
        return (cached_hull(self.points),)

    @property
    def geometry(self) -> Any:
        return self._parts[0]
