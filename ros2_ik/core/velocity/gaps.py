"""The rows of gaps that could close soon."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.scene import CollisionChecker

USUAL = 3.0     # [m/s] with which parts come nearer to each other; faster steps look further
NEAR = 0.02     # [m] beyond that
SLACK = 0.1     # part of the margin that a bent way may take; the next step gives it back
LEAST = 1e-6    # [m] of that
SAME = 1e-9     # [m]; distances that differ by less are one
NUMBERS = 4     # of a row after its Jacobian: distance, approach, gain, push


class MissedRows(NamedTuple):
    """So many rows of what is hard: its name, and of gaps those of each row's pair."""

    name: str
    length: int
    pairs: tuple[tuple[str, str], ...] = ()


class Gaps:
    """
    Jacobians and distances of the pairs of a checker that are near each other.

    `share` is the part of a gap that a step may close, `push` [m/s] the speed with which it is
    made wider where it is less than `margin`, `narrowed` gives what counts of a checker.
    """

    def __init__(self, name: str, checker: CollisionChecker, margin: float, rows: int,
                 share: float, push: float, dt: float,
                 narrowed: Callable[[CollisionChecker], CollisionChecker] | None = None) -> None:
        self.name, self._margin, self._most, self._dt = name, margin, rows, dt
        self._share, self._push, self._narrowed = share, push, narrowed
        self._bearable = max(SLACK * margin, LEAST)
        self._look(checker, {})

    def look(self, checker: CollisionChecker, velocities: Mapping[str, Any]) -> None:
        """Take a checker of a scene in which objects move with velocities (3,), by name [m/s]."""
        self._look(checker if self._narrowed is None else self._narrowed(checker), velocities)

    def _look(self, checker: CollisionChecker, velocities: Mapping[str, Any]) -> None:
        given = {name: vector(value, f"velocity of '{name}'", 3, InvalidOptionError)
                 for name, value in velocities.items()}
        self._checker, self._levers, self._velocities = checker, checker.levers, given
        fastest = max((float(np.linalg.norm(v)) for v in given.values()), default=0.0)
        self._own = fastest * self._dt
        self._usual = NEAR + USUAL * self._dt + self._own

    def near(self, q: Array) -> Array:
        """Return the rows (k, n + NUMBERS) of what a usual step could reach."""
        self._reach = self._usual
        return self._near(q)

    def _near(self, q: Array) -> Array:
        rows = self._at(q, self._reach)
        self.near_rows = MissedRows(self.name, len(rows), self._names)
        self.nearest = float(rows[:, -NUMBERS].min(initial=np.inf))
        return rows

    def nearer(self, q: Array, step: Array) -> Array | None:
        """Return the rows again where a step (n,) reaches further than they do, else None."""
        needed = self.approach(step) / self._share
        if needed <= self._reach:
            return None
        self._reach = needed
        return self._near(q)

    def approach(self, step: Array) -> float:
        """Return how much nearer to each other two things can come at most in a step (n,) [m]."""
        return float(np.abs(step) @ self._levers) + self._own

    @property
    def floor(self) -> float:
        """How far below the margin a step from where it was looked last may end [m]."""
        return min(-self._bearable, self.nearest) - SAME

    def crossed(self, there: Array, step: Array) -> Array:
        """Return the rows of pairs that a step ends below `floor` with, as before the step."""
        rows = self._at(there, 0.0)
        below = np.flatnonzero(rows[:, -NUMBERS] < self.floor)
        rows = rows[below]
        rows[:, -NUMBERS] -= rows[:, :-NUMBERS] @ step
        self.crossed_rows = MissedRows(self.name, len(rows),
                                       tuple(self._names[i] for i in below.tolist()))
        return rows

    def beyond(self, q: Array) -> float:
        """Return by how much the least distance is below `floor`, 0 where it is not."""
        found = self._checker.distances(q, max(self._margin, 0.0), 1).distance
        return self.floor - float((found - self._margin).min(initial=self.floor))

    def _at(self, q: Array, reach: float) -> Array:
        """Return the rows of pairs that are less than `reach` [m] above the margin."""
        found = self._checker.distances(q, max(self._margin + reach, 0.0), self._most)
        self._names = found.names
        rows = np.empty((len(found.distance), len(self._levers) + NUMBERS))
        rows[:, :-NUMBERS] = found.jacobian
        rows[:, -NUMBERS] = found.distance - self._margin
        rows[:, 1 - NUMBERS:] = 0.0, self._share, self._push
        if self._velocities:
            still = np.zeros(3)
            for row, names, normal in zip(rows, found.names, found.normal, strict=True):
                one, other = (self._velocities.get(name, still) for name in names)
                row[1 - NUMBERS] = normal @ (one - other)
        return rows
