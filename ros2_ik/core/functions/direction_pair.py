"""What functions of two directions, one on each of two bodies, share."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import direction
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.deviation import Deviation
from ros2_ik.core.functions.relative_function import pure_moment, RelativeFunction


class DirectionPair(RelativeFunction):
    """A function of the angle between `vector` of `frame` and `other_vector` of `relative_to`."""

    def __init__(self, frame: str, vector: Sequence[float] | Array,
                 other_vector: Sequence[float] | Array, relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.vector = direction(vector, 'vector', InvalidConstraintError)
        self.other_vector = direction(other_vector, 'other_vector', InvalidConstraintError)
        self.deviation = Deviation(self.other_vector)

    @abstractmethod
    def deviate(self, u: Array) -> tuple[Array, Array]:
        """Give f (m,) and df/du (m, 3) for the unit vector u in the axes of `relative_to`."""

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        vector, R = T_frame.rotation @ self.vector, T_relative.rotation
        f, G = self.deviate(R.T @ vector)
        # g @ (w x u) = (u x g) @ w
        return f, pure_moment(G @ R.T @ pin.skew(vector).T)
