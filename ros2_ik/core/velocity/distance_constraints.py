"""Constraints on the distances of pairs of links and objects."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.collision import CollisionChecker, Distances
from ros2_ik.core.collision.distance_check import DistanceCheck
from ros2_ik.core.collision.near_pairs import PairsAt
from ros2_ik.core.errors import UnknownObjectError
from ros2_ik.core.kernels.velocity import SLACK
from ros2_ik.core.kernels.velocity_rows import DISTANCE, GAP_NUMBERS, GAP_SPEED, MARGIN

ROW_DISTANCE = 0.01     # [m] above its margin: a nearer pair is always a row
FIRST_SPEED = 3.0       # [m/s] at which pairs are assumed to approach in the first step
LOOKAHEAD = 1.2         # factor of the reach of the last step that the next one looks at
PATH_RATIO = 1.01       # largest ratio of the length of a path to the distance of its ends
LEAST_SLACK = 1e-6      # [m]
EPSILON = 1e-9          # [m]; distances that differ by less are equal
REUSE_DISTANCE = 0.003  # [m] above its margin: rows of nearer pairs may be kept for later steps
REUSE_MOTION = 0.05     # [rad, m] that a joint may move while a row is kept
GRADIENT_JUMP = 0.02    # [m/rad, 1] change of a gradient where nearest points of a pair jump


class NearPair(NamedTuple):
    """A pair near its margin: how far above it [m], its names, and the gradient of that (nv,)."""

    gap: float
    names: tuple[str, str]
    gradient: Array


class DistanceRows(NamedTuple):
    """Rows (k, nv + GAP_NUMBERS) of pairs: gradients of distances, and see `velocity_rows`."""

    barrier: str
    rows: Array
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def labels(self) -> list[str]:
        """Return the name of each row: that of its barrier, and of the pair."""
        named = [f"of '{one}' and '{other}'" for one, other in self.pairs]
        return [self.barrier if pair in self.barrier else f'{self.barrier} {pair}'
                for pair in named]


class KeptRow(NamedTuple):
    """The row of a pair at a configuration q, kept for later ones."""

    pair: tuple[str, str]
    q: Array
    row: Array


class DistanceConstraints:
    """
    Rows that keep the pairs of a checker a margin apart, for one step after the other.

    A step may close the part `gain` of a gap; where it is less than `margin` it is widened, at
    most at `push` [m/s]. `narrowed` returns the pairs of a checker that count. A distance shrinks
    by no more than both sides have moved since the last step: it is computed again only once that
    may have brought the pair near.
    """

    _check: DistanceCheck
    _here: PairsAt      # bounds of the distances where the step begins
    _ahead: PairsAt     # and where it was last seen to end

    def __init__(self, name: str, checker: CollisionChecker, margin: float, rows: int,
                 gain: float, push: float, dt: float,
                 narrowed: Callable[[CollisionChecker], CollisionChecker] | None = None) -> None:
        self.name, self._margin, self._most, self._dt = name, margin, rows, dt
        self._gain, self._push, self._narrowed = gain, push, narrowed
        self._none = DistanceRows(name, np.zeros((0, checker.robot.nv + GAP_NUMBERS)))
        self._slack = max(SLACK * margin, LEAST_SLACK)
        self._near, self._nearest = self._none, np.inf
        self.set_scene(checker, {})

    def set_scene(self, checker: CollisionChecker, velocities: Mapping[str, 'ArrayLike']) -> None:
        """Use a checker of a scene in which objects move with velocities (3,), by name [m/s]."""
        self._checker = self._narrowed(checker) if self._narrowed else checker
        self._is_new, self._has_moved = True, False
        self._moved: dict[str, Array] | None = None     # poses of moved objects
        self._set_velocities(velocities)

    def move(self, poses: Mapping[str, Array], velocities: Mapping[str, 'ArrayLike']) -> None:
        """
        Put objects at poses (4, 4), moving with velocities (3,), by name [m/s].

        Raises UnknownObjectError, and then moves nothing.
        """
        objects = self._checker.scene.objects
        for name in poses:
            if name not in objects:
                raise UnknownObjectError(name, tuple(objects))
        if self._moved is None:     # others may use the checker
            self._moved, self._checker, self._is_new = {}, self._checker.copied(), True
        self._moved.update(poses)
        self._has_moved = True
        if not self._is_new:
            self._check.move(poses, objects)
        self._set_velocities(velocities)

    def _set_velocities(self, velocities: Mapping[str, 'ArrayLike']) -> None:
        self._velocities = {name: np.array(value) for name, value in velocities.items()}
        self._last, self._next = list[KeptRow](), list[KeptRow]()
        moving = np.reshape([*velocities.values()], (-1, 3))
        self._own = np.linalg.norm(moving, axis=1).max(initial=0.0) * self._dt      # [m]

    def near(self, q: Array) -> DistanceRows:
        """Return the rows of the pairs that a step like the last one could reach from q."""
        check = self._checker.nearness
        if self._is_new or check is not self._check:    # also when parts of meshes were made since
            self._check, self._is_new = check, False
            if self._moved:
                check.move(self._moved, self._checker.scene.objects)
            self._here = check.near_pairs.follow(q)
            self._needed = np.full(len(self._here.least), ROW_DISTANCE + FIRST_SPEED * self._dt)
        elif self._has_moved or not np.array_equal(q, self._here.q):
            self._here = check.near_pairs.follow(q, self._here)
        self._has_moved = False
        self._reach = np.maximum(LOOKAHEAD * self._needed, ROW_DISTANCE) + self._margin + self._own
        return self._look()

    def nearer(self, end: Array, stop: float) -> DistanceRows | None:
        """
        Return new rows if a step to an end (nq,) reaches more pairs, else None.

        `stop` [s] is how long joints take to come to rest from that step. A bound lets a step
        close no more than `gain` of what is left, and no faster than joints can brake for. With
        half their accelerations a at a speed r.v that takes (r.v)^2 / (|r|.a), which is at most
        r.v times max(|v|/a).
        """
        steps = PATH_RATIO * max(1.0 / self._gain, 1.0 + stop / self._dt)   # till contact, at most
        self._look_ahead(end)
        self._needed = steps * (self._ahead.closing + self._own)
        reach = self._needed + self._margin + self._own
        new = (reach > self._reach) & (self._here.least < reach)
        if not new.any():
            return None
        self._reach = np.maximum(reach, self._reach)
        return self._look()

    def _look_ahead(self, end: Array) -> None:
        self._ahead = self._check.near_pairs.follow(end, self._here)

    def _distances(self, at: PairsAt, reach: Array, most: int) -> Distances:
        robot = self._checker.robot
        data = robot.scratch_data()
        pin.computeJointJacobians(robot.model, data, at.q)
        return self._check.distances(data, at, reach, most)

    def _look(self) -> DistanceRows:
        self._near, self._nearest, self._next = self._none, np.inf, []
        if (self._here.least < self._reach).any():
            found = self._distances(self._here, self._reach, self._most)
            rows = np.empty((len(found.distance), self._none.rows.shape[1]))
            rows[:, :-GAP_NUMBERS], rows[:, DISTANCE] = found.jacobian, found.distance
            rows[:, MARGIN:] = self._margin, self._gain, self._push, 0.0
            if self._velocities:
                still = np.zeros(3)
                for row, names, normal in zip(rows, found.names, found.normal, strict=True):
                    one, other = (self._velocities.get(name, still) for name in names)
                    row[GAP_SPEED] = normal @ (one - other)
            self._nearest = float(found.distance[0]) if len(rows) else np.inf
            self._near = DistanceRows(self.name, rows, found.names)
            self._add_kept(self._here.q)
        return self._near

    def _add_kept(self, q: Array) -> None:
        """
        Add the rows that pairs had at other nearest points in the last steps.

        Where a link lies along another the nearest points jump from end to end: with the row of
        one end alone, each step moves the other end closer. (Without it 96 hands that were pulled
        into the arm's column turned 2400 times in their last second; with it 75 times.)
        """
        limit, (_, rows, pairs) = self._margin + REUSE_DISTANCE, self._near
        here = [KeptRow(pair, q, row) for pair, row, distance in zip(
            pairs, rows, rows[:, DISTANCE].tolist(), strict=True) if distance < limit]
        for kept in self._last:
            gradient = kept.row[:-GAP_NUMBERS]
            changes = [one.row[:-GAP_NUMBERS] - gradient for one in here if one.pair == kept.pair]
            if not changes or min([change.dot(change) for change in changes]) < GRADIENT_JUMP**2:
                continue
            way, row = pin.difference(self._checker.robot.model, kept.q, q), kept.row.copy()
            row[DISTANCE] += gradient @ way
            if row[DISTANCE] < limit and np.abs(way).max() < REUSE_MOTION:
                self._next.append(kept)
                self._near = DistanceRows(self.name, np.vstack([self._near.rows, row]),
                                          (*self._near.pairs, kept.pair))
        self._next += here

    def near_pairs(self, within: float) -> list[NearPair]:
        """Return the pairs of the last step that were less than `within` [m] above the margin."""
        _, rows, pairs = self._near
        return [NearPair(float(row[DISTANCE] - self._margin), pair, row[:-GAP_NUMBERS])
                for row, pair in zip(rows, pairs, strict=True)
                if row[DISTANCE] - self._margin < within]

    def commit(self) -> None:
        """Make the end that was looked at last the configuration to start from."""
        self._here, self._last = self._ahead, self._next

    def excess_at(self, end: Array) -> float:
        """Return by how much the least distance at an end is less than it may be [m], else 0."""
        least = min(self._margin - self._slack, self._nearest) - EPSILON
        if not np.array_equal(end, self._ahead.q):
            self._look_ahead(end)
        if self._ahead.nearest >= least:
            return 0.0
        found = self._distances(self._ahead, np.full(len(self._ahead.least), least), 1).distance
        return least - float(found.min(initial=least))
