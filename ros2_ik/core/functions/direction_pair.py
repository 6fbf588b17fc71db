"""What functions of two directions, one on each of two bodies, share."""

from dataclasses import dataclass
from typing import Any

from ros2_ik.core import algebra as v
from ros2_ik.core.functions.deviation import across
from ros2_ik.core.functions.fields import Axis, Frame
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import part


@dataclass(frozen=True, eq=False)
class DirectionPair(RelativeFunction):
    """A function of the angle between `vector` of `frame` and `other_vector` of `relative_to`."""

    frame: Frame
    vector: Axis
    other_vector: Axis
    relative_to: Frame | None = None

    def numbers(self) -> Any:
        return self.vector, self.other_vector, across(self.other_vector)


@part
def row_of(W: Any, i: int, A: Any, turned: v.Vector, gradient: v.Vector) -> None:
    """Make row i that of a gradient by the vector seen from A, which is `turned` in the root."""
    v.moment(W, i, v.cross(turned, v.turn(A, gradient)))    # g . (w x a) = (a x g) . w
