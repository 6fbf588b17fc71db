"""The convex hull of points, as a shape."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.meshes.meshes import cached_hull, Hull
from ros2_ik.core.scene.shapes.shape import Points, register_shape, Shape

if TYPE_CHECKING:
    import coal


@register_shape('convex_hull')
@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """Convex hull of `points` (n, 3) [m]; flat hulls are made 0.1 mm thicker on each side."""

    points: Points

    @cached_property
    def hull(self) -> Hull:
        """Vertices and faces of the hull."""
        return cached_hull(self.points)

    @cached_property
    def geometry(self) -> 'coal.Convex':
        return self.hull.geometry()

    def surface(self) -> tuple[Array, Indices]:
        return self.hull.vertices, self.hull.faces
