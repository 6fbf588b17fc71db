"""What functions of a line of sight share."""

from abc import abstractmethod
from collections.abc import Sequence
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import direction, vector
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.deviation import Deviation
from ros2_ik.core.functions.relative_function import RelativeFunction, wrench_at

TOUCHING = 1e-9   # [m], closer than that a ray has no direction
CLOSE = 1e-3      # [m], the gradient grows as 1 / distance down to there


class Sight(RelativeFunction):
    """
    A function of how the ray from `origin` to `target` is turned away from `axis`.

    `origin` and `axis` belong to `frame` (a camera), `target` to `relative_to`. Where the target
    is at the origin (within 1e-9 m) there is no ray: it counts as exactly behind, and the
    gradient draws the frame back along its axis, so that the target comes in front of it. The
    gradient grows as 1/distance; below 1e-3 m it stays as large as there.
    """

    def __init__(self, frame: str, origin: Sequence[float] | Array,
                 axis: Sequence[float] | Array, target: Sequence[float] | Array,
                 relative_to: str | None = None) -> None:
        super().__init__(frame, relative_to)
        self.origin = vector(origin, 'origin', 3, InvalidConstraintError)
        self.axis = direction(axis, 'axis', InvalidConstraintError)
        self.target = vector(target, 'target', 3, InvalidConstraintError)
        self.deviation = Deviation(self.axis)

    @abstractmethod
    def deviate(self, u: Array) -> tuple[Array, Array]:
        """Give f (m,) and df/du (m, 3) for the ray's direction u in the axes of `frame`."""

    def measure(self, T_frame: Any, T_relative: Any) -> tuple[Array, Array]:
        R, target = T_frame.rotation, T_relative.act(self.target)
        ray = R.T @ (target - T_frame.translation) - self.origin
        distance = math.hypot(*ray.tolist())    # does not overflow as squares would
        if distance > TOUCHING:
            f, G = self.deviate(ray / distance)
        else:
            f = self.deviate(-self.axis)[0]
            G = np.outer(f / math.pi, -self.axis)
        # seen from the frame the target moves, against the frame's own motion
        return f, wrench_at(G @ R.T / -max(distance, CLOSE), target)
