"""Occupied cells of an octomap, as a shape."""

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
    Occupied cells of a grid with edge `resolution` [m]: the cells that contain `points` (n, 3).

    Represented by coal.OcTree, whose distance queries are slow.
    """

    points: Points
    resolution: Length

    def __post_init__(self) -> None:
        super().__post_init__()
        # octomap's keys have 16 bits: 2^15 cells on each side of the origin
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
        """Centres of the occupied cells (m, 3) [m], without duplicates."""
        return np.array(self.geometry.toBoxes())[:, :3]
