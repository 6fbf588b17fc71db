"""What functions of a line of sight share."""

from dataclasses import dataclass
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import across
from ros2_ik.core.functions.fields import Axis, Frame, Point
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import part

TOUCHING = 1e-9   # [m], closer than that a ray has no direction
CLOSE = 1e-3      # [m], the gradient grows as 1 / distance down to there


@dataclass(frozen=True, eq=False)
class Sight(RelativeFunction):
    """
    A function of how the ray from `origin` to `target` is turned away from `axis`.

    `origin` and `axis` belong to `frame` (a camera), `target` to `relative_to`. Where the target
    is at the origin (within 1e-9 m) there is no ray: it counts as exactly behind, and the
    gradient draws the frame back along its axis, so that the target comes in front of it. The
    gradient grows as 1/distance; below 1e-3 m it stays as large as there.
    """

    frame: Frame
    origin: Point
    axis: Axis
    target: Point
    relative_to: Frame | None = None

    def numbers(self) -> Any:
        return self.axis, across(self.axis), self.origin, self.target


@part
def ray_to(B: Any, target: v.Vector, given: Any) -> Any:
    """Return distance and direction of a target, in the axes of B; against the axis at none."""
    ray = v.sub(v.seen_from(B, target), v.vector(given, 9))
    distance = v.norm(ray)
    if distance > TOUCHING:
        return distance, v.times(1.0 / distance, ray)
    return distance, v.times(-1.0, v.vector(given, 0))


@part
def row_of(W: Any, i: int, B: Any, target: v.Vector, distance: float,
           gradient: v.Vector) -> None:
    """Make row i that of a gradient by the ray's direction."""
    # seen from the frame the target moves, against the frame's own motion
    v.force(W, i, target, v.times(-1.0 / max(distance, CLOSE), v.turn(B, gradient)))
