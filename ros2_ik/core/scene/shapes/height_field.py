"""Ground by its heights."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import between, matrix
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.geometry_library import coal
from ros2_ik.core.meshes.meshes import Hull, hull_of
from ros2_ik.core.scene.shapes.convex_hull import HulledShape
from ros2_ik.core.scene.shapes.shape import FARTHEST, Length, register_shape


@register_shape('height_field')
@dataclass(frozen=True, eq=False)
class HeightField(HulledShape):
    """
    Ground given by `heights` (rows, columns) over a rectangle of `x_size` by `y_size`.

    It is centred on the origin. Columns go along +x, rows along -y (the first row is at
    y = y_size / 2), as in an image. It is solid from the heights down to `bottom`, by default
    the larger size below the lowest height, so that what sinks in is pushed up.

    coal has no distances to its own height field, so `parts` are prisms, one a cell and each
    the hull of its corners; `geometry` is coal's field, for collisions only.
    """

    x_size: Length
    y_size: Length
    heights: Array
    bottom: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        heights = matrix(self.heights, self.called('heights'), None, InvalidSceneError, FARTHEST)
        bottom = self.bottom
        if bottom is None:
            bottom = float(heights.min()) - max(self.x_size, self.y_size)
        between(bottom, self.called('bottom'), -FARTHEST, float(heights.min()), InvalidSceneError)
        if min(heights.shape) < 2 or bottom == heights.min():
            raise InvalidSceneError('a height field must have at least 2 x 2 heights, above its '
                                    f'bottom, not {heights.shape} above {bottom:g}')
        self._set(heights=heights, bottom=float(bottom))

    @cached_property
    def geometry(self) -> Any:
        return coal.HeightFieldOBBRSS(self.x_size, self.y_size, np.array(self.heights),
                                      self.bottom)

    @cached_property
    def hulls(self) -> tuple[Hull, ...]:
        """One prism a cell."""
        rows, columns = self.heights.shape
        x = np.linspace(-self.x_size / 2, self.x_size / 2, columns)
        y = np.linspace(self.y_size / 2, -self.y_size / 2, rows)
        top = np.stack([*np.meshgrid(x, y), self.heights], axis=-1)
        low = top.copy()
        low[:, :, 2] = self.bottom
        corners = [grid[i:rows - 1 + i, j:columns - 1 + j] for grid in (top, low)
                   for i in (0, 1) for j in (0, 1)]
        return tuple(hull_of(cell) for cell in np.stack(corners, axis=2).reshape(-1, 8, 3))
