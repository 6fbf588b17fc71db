"""Occupied cells of a grid, as octomap has them."""

from dataclasses import dataclass
from functools import cached_property

import coal
import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene.shapes.shape import created, Length, Points, register_shape, Shape


@register_shape('octree')
@dataclass(frozen=True, eq=False)
class OcTree(Shape):
    """
    Cubes of edge `resolution` round the `points` (n, 3), snapped to multiples of it.

    Its distances are slow (coal's, as its limits are).
    """

    points: Points
    resolution: Length

    def __post_init__(self) -> None:
        super().__post_init__()
        cells = np.abs(self.points).max() / self.resolution
        if cells >= 2 ** 15:
            raise InvalidSceneError(f'an octree of resolution {self.resolution:g} reaches '
                                    f'{2 ** 15 * self.resolution:g} m; a point is further out')

    @cached_property
    def geometry(self) -> coal.OcTree:
        return coal.makeOctree(np.array(self.points), self.resolution)

    def surface(self) -> tuple[Array, Indices]:
        corners, triangles = created('box', [self.resolution] * 3)
        firsts = 8 * np.arange(len(self.cells))[:, None, None]
        return (self.cells[:, None] + corners).reshape(-1, 3), (firsts + triangles).reshape(-1, 3)

    @cached_property
    def cells(self) -> Array:
        """The centres of the cubes, (m, 3), each once."""
        return np.array(self.geometry.toBoxes())[:, :3]
