"""The rows of gaps that could close soon."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.scene import CollisionChecker
from ros2_ik.core.velocity.barrier import CollisionBarrier

USUAL = 3.0     # [m/s] with which parts come nearer to each other; faster steps look further
NEAR = 0.02     # [m] beyond that
SLACK = 0.1     # part of the margin that a bent way may take; the next step gives it back


class Gaps:
    """Jacobians and distances of the pairs of a checker that are near each other."""

    def __init__(self, barrier: CollisionBarrier, dt: float) -> None:
        self._barrier, self._dt = barrier, dt
        self.gain, self.push = barrier.gain.in_step(dt), barrier.push
        self.bearable = SLACK * barrier.margin
        self.look(barrier.checker, {})

    def look(self, checker: CollisionChecker, velocities: Mapping[str, Any]) -> None:
        """Take a checker of a scene in which objects move with velocities (3,), by name [m/s]."""
        self._checker, self._levers = checker, checker.levers
        self._velocities = {name: vector(value, f"velocity of '{name}'", 3, InvalidOptionError)
                            for name, value in velocities.items()}
        fastest = max((float(np.linalg.norm(v)) for v in self._velocities.values()), default=0.0)
        self.usual = NEAR + (USUAL + fastest) * self._dt
        self._own = fastest * self._dt

    def approach(self, step: Array) -> float:
        """Return how much nearer to each other two things can come at most in a step (n,) [m]."""
        return float(np.abs(step) @ self._levers) + self._own

    def least(self, q: Array) -> float:
        """Return the least distance above the margin, 0 where none is below."""
        found = self._checker.distances(q, self._barrier.margin, 1)
        return float((found.distance - self._barrier.margin).min(initial=0.0))

    def at(self, q: Array, reach: float) -> Array:
        """
        Return Jacobian, distance above the margin and approach of pairs, (k, n + 2).

        Of those that are less than `reach` [m] above it.
        """
        found = self._checker.distances(q, self._barrier.margin + reach, self._barrier.rows)
        rows = np.zeros((len(found.distance), len(self._levers) + 2))
        rows[:, :-2] = found.jacobian
        rows[:, -2] = found.distance - self._barrier.margin
        if self._velocities:
            still = np.zeros(3)
            for row, names, normal in zip(rows, found.names, found.normal, strict=True):
                one, other = (self._velocities.get(name, still) for name in names)
                row[-1] = normal @ (one - other)
        return rows

