"""Shapes made of convex solids."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ros2_ik.core.meshes.meshes import Hull
from ros2_ik.core.scene.shapes.shape import bounded, Shape


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
