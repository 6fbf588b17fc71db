"""Ground by its heights."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import finite
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.geometry_library import coal
from ros2_ik.core.meshes.meshes import Hull, hull_of
from ros2_ik.core.scene.shapes.hulled_shape import HulledShape
from ros2_ik.core.scene.shapes.shape import checked_length, number_rows, register_shape, within


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

    x_size: float
    y_size: float
    heights: Array
    bottom: float | None = None

    def __post_init__(self) -> None:
        self._set(x_size=checked_length(self.x_size, 'the x_size of a height field'),
                  y_size=checked_length(self.y_size, 'the y_size of a height field'))
        heights = number_rows(self.heights, 'the heights of a height field', None)
        if min(heights.shape) < 2:
            raise InvalidSceneError('the heights of a height field must be at least 2 x 2, '
                                    f'not {heights.shape}')
        bottom, name = self.bottom, 'the bottom of a height field'
        if bottom is None:
            bottom = float(heights.min()) - max(self.x_size, self.y_size)
        bottom = float(within(np.array(finite(bottom, name, InvalidSceneError)), name))
        if bottom >= heights.min():
            raise InvalidSceneError(f'the bottom of a height field, {bottom:g}, must be below '
                                    f'its lowest height, {heights.min():g}')
        self._set(heights=heights, bottom=bottom)

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
