"""The rows of gaps that could close soon."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import vector
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.scene import CollisionChecker
from ros2_ik.core.scene.near_pairs import PairsAt
from ros2_ik.core.scene.pair_watch import PairWatch
from ros2_ik.core.velocity.care import Care

NEAR = 0.01     # [m]; what is nearer to its margin counts, whatever moves
USUAL = 3.0     # [m/s] with which parts come nearer to each other when nothing is known of it
MORE = 1.2      # times of what the last step needed to know, the next one looks at
BENT = 1.01     # ways are at most so much longer than from end to end
SLACK = 0.1     # part of the margin that a bent way may take; the next step gives it back
LEAST = 1e-6    # [m] of that
CALM = 0.3      # [rad/s, m/s] of joints at most to widen what is apart, but not by its margin;
LEVER = 0.1     # slower where the joints' levers on it are shorter [m]: it would only swing
SAME = 1e-9     # [m]; distances that differ by less are one
NUMBERS = 7     # of a row after its Jacobian: what is above the margin, approach, gain, push now,
                # distance, push, care


class NearPair(NamedTuple):
    """A pair near its margin: how far above it [m], its names, and the gradient of that (nv,)."""

    gap: float
    names: tuple[str, str]
    gradient: Array


class MissedRows(NamedTuple):
    """So many rows of what is hard: its name, and of gaps those of each row's pair."""

    name: str
    length: int
    pairs: tuple[tuple[str, str], ...] = ()


class Gaps:
    """
    Jacobians and distances of the pairs of a checker that are near each other.

    `share` is the part of a gap that a step may close, `push` [m/s] the speed with which it is
    made wider where it is less than `margin`, `care` that with which it is closed; `narrowed`
    gives what counts of a checker.
    """

    _closing: Array | None

    def __init__(self, name: str, checker: CollisionChecker, margin: float, rows: int,
                 share: float, push: float, care: Care, dt: float,
                 narrowed: Callable[[CollisionChecker], CollisionChecker] | None = None) -> None:
        self.name, self._margin, self._most, self._dt = name, margin, rows, dt
        self._share, self._push, self._narrowed = share, push, narrowed
        self._care, self._near_by = care, max(NEAR, care.reach)
        self._none = np.zeros((0, checker.robot.nv + NUMBERS))
        self._bearable = max(SLACK * margin, LEAST)
        self.near_rows, self._near_now = MissedRows(name, 0), self._none
        self._look(checker, {})

    def look(self, checker: CollisionChecker, velocities: Mapping[str, Any]) -> None:
        """Take a checker of a scene in which objects move with velocities (3,), by name [m/s]."""
        self._look(checker if self._narrowed is None else self._narrowed(checker), velocities)

    def move(self, poses: Mapping[str, Any], velocities: Mapping[str, Any]) -> None:
        """Put objects elsewhere (SE3, by name), which move with velocities (3,) [m/s]."""
        given = _checked(velocities)
        self._watch.move(poses)
        self._set_velocities(given)

    def _look(self, checker: CollisionChecker, velocities: Mapping[str, Any]) -> None:
        given = _checked(velocities)
        self._watch, self._closing = PairWatch(checker), None   # of the last step
        self._set_velocities(given)

    def _set_velocities(self, given: dict[str, Array]) -> None:
        self._velocities = given
        fastest = max((float(np.linalg.norm(v)) for v in given.values()), default=0.0)
        self._own = fastest * self._dt

    def near(self, q: Array, stop: float) -> Array:
        """
        Return the rows (k, n + NUMBERS) of what a step like the last one could reach.

        `stop` [s] is how long joints take to come to rest.
        """
        if self._watch.go(q):
            self._closing = None
        nearest = self._margin + self._own
        if self._closing is None:
            self._reach = np.full(len(self._watch.here.least),
                                  nearest + self._near_by + USUAL * self._dt)
        else:
            self._reach = MORE * self._horizon(stop) * self._closing
            np.maximum(self._reach, self._near_by, out=self._reach)
            self._reach += nearest
        return self._near()

    def _horizon(self, stop: float) -> float:
        """
        Return in how many steps of one kind it would touch what bounds that step.

        A bound says: close no more than `share` of what is left, and no faster than joints can
        brake for. With half their accelerations a at a speed r.v that takes (r.v)^2 / (|r|.a),
        which is at most r.v times the time that the slowest of them takes, max(|v|/a).
        """
        return BENT * max(1.0 / self._share, 1.0 + stop / self._dt)

    def _near(self) -> Array:
        rows, names = self._rows(self._watch.here, self._reach)
        self.near_rows = MissedRows(self.name, len(rows), names)
        self.nearest = float(rows[:, -NUMBERS].min(initial=np.inf))
        self._near_now = rows
        return rows

    def near_pairs(self, within: float) -> list[NearPair]:
        """Return the pairs of the last step that were less than `within` [m] above the margin."""
        return [NearPair(float(row[-NUMBERS]), pair, row[:-NUMBERS])
                for row, pair in zip(self._near_now, self.near_rows.pairs, strict=True)
                if row[-NUMBERS] < within]

    def nearer(self, there: Array, stop: float) -> Array | None:
        """Return the rows again where a step to `there` could reach further, else None."""
        horizon = self._horizon(stop)
        self._there = there
        reach = horizon * self._watch.look_ahead(there).closing
        reach += self._margin + (1.0 + horizon) * self._own
        new = reach > self._reach
        new &= self._watch.here.least < reach
        if not new.any():
            return None
        self._reach = np.maximum(reach, self._reach)
        return self._near()

    def arrive(self) -> None:
        """Take it that the last step that was looked at is the one."""
        self._closing = self._watch.ahead.closing
        self._watch.arrive()

    @property
    def floor(self) -> float:
        """How far below the margin a step from where it was looked last may end [m]."""
        return min(-self._bearable, self.nearest) - SAME

    def crossed(self, there: Array, step: Array) -> Array:
        """Return the rows of pairs that a step ends below `floor` with, as before the step."""
        at = self._at(there)
        rows, names = self._rows(at, np.full(len(at.least), self._margin + self.floor))
        if len(rows):
            rows[:, [-NUMBERS, -3]] -= (rows[:, :-NUMBERS] @ step)[:, None]
            rows[:, -1] = 0.0   # which the rows before the step have told
        self.crossed_rows = MissedRows(self.name, len(rows), names)
        return rows

    def beyond(self, there: Array) -> float:
        """Return by how much the least distance is below `floor`, 0 where it is not."""
        at = self._at(there)
        reach = np.full(len(at.least), self._margin + self.floor)
        found = self._watch.distances(at, reach, 1).distance
        return self.floor - float((found - self._margin).min(initial=self.floor))

    def is_clear(self, there: Array) -> bool:
        """Return whether all pairs are known to be above `floor` at the end of a step."""
        return self._at(there).nearest >= self._margin + self.floor

    def _at(self, there: Array) -> PairsAt:
        if there is not self._there:
            self._there = there
            self._watch.look_ahead(there)
        return self._watch.ahead

    def _rows(self, at: PairsAt, reach: Array) -> tuple[Array, tuple[tuple[str, str], ...]]:
        """Return the rows of pairs that are less than `reach` (p,) [m] apart, and their names."""
        if (at.least >= reach).all():
            return self._none, ()
        found = self._watch.distances(at, reach, self._most)
        k, n = found.jacobian.shape
        rows = np.empty((k, n + NUMBERS))
        rows[:, :n] = found.jacobian
        rows[:, -NUMBERS] = found.distance - self._margin
        rows[:, 1 - NUMBERS:-3] = 0.0, self._share, self._push
        rows[:, -3], rows[:, -2] = found.distance, self._push
        rows[:, -1] = self._care.weights(rows[:, -NUMBERS])
        if k and found.distance[0] < self._margin:
            apart = (found.distance >= 0) & (found.distance < self._margin)
            levers = np.abs(rows[apart, :n]).sum(axis=1)
            rows[apart, -4] = np.minimum(self._push,
                                         CALM * levers * np.minimum(1.0, levers / LEVER))
        if self._velocities:
            still = np.zeros(3)
            for row, names, normal in zip(rows, found.names, found.normal, strict=True):
                one, other = (self._velocities.get(name, still) for name in names)
                row[1 - NUMBERS] = normal @ (one - other)
        return rows, found.names


def _checked(velocities: Mapping[str, Any]) -> dict[str, Array]:
    return {name: vector(value, f"velocity of '{name}'", 3, InvalidOptionError)
            for name, value in velocities.items()}
