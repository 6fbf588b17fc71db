"""Occupied cells of a grid, as octomap has them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.geometry_library import coal
from ros2_ik.core.scene.octomap_bytes import occupied_cells
from ros2_ik.core.scene.shapes.shape import checked_length, points_of, register_shape, Shape


@register_shape('octree')
@dataclass(frozen=True, eq=False)
class OcTree(Shape):
    """
    Cubes of edge `resolution` round the `points` (n, 3), snapped to multiples of it.

    Its distances are slow (coal's, as its limits are), and from ellipsoids slower.
    """

    points: Array
    resolution: float

    def __post_init__(self) -> None:
        self._set(points=points_of(self.points, 'the points of an octree'),
                  resolution=checked_length(self.resolution, 'the resolution of an octree'))
        cells = np.abs(self.points).max() / self.resolution
        if cells >= 2 ** 15:
            raise InvalidSceneError(f'an octree of resolution {self.resolution:g} reaches '
                                    f'{2 ** 15 * self.resolution:g} m; a point is further out')

    @classmethod
    def from_octomap(cls, data: Any, resolution: float, binary: bool = True) -> 'OcTree':
        """
        Read the `data` (bytes or int8s) of an octomap message of type OcTree: its occupied cells.

        Raises InvalidSceneError for bytes that are no such tree or hold nothing.
        """
        size = checked_length(resolution, 'the resolution of an octree')
        return cls(occupied_cells(data, binary) * size, size)

    @cached_property
    def geometry(self) -> Any:
        return coal.makeOctree(np.array(self.points), self.resolution)

    @cached_property
    def cells(self) -> Array:
        """The centres of the cubes, (m, 3), each once."""
        return np.array(self.geometry.toBoxes())[:, :3]
