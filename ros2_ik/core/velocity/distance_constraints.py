"""Constraints on the distances of pairs of links and objects, as rows of a velocity program."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import CollisionChecker, Distances
from ros2_ik.core.collision.broad_phase import DistanceBounds
from ros2_ik.core.errors import UnknownObjectError
from ros2_ik.core.kernels import velocity_rows as column
from ros2_ik.core.kernels.velocity import SLACK
from ros2_ik.core.scene import Scene

ROW_DISTANCE = 0.01     # gap (distance - margin) up to which a pair gets a row at any speed [m]
FIRST_SPEED = 3.0       # assumed speed of approach of pairs in the first step [m/s]
LOOKAHEAD = 1.2         # gap searched first in a step / gap below which the last step needed rows
PATH_RATIO = 1.01       # upper bound of (path length / displacement) of a point in a step
MIN_SLACK = 1e-6        # accepted violation of a margin if SLACK * margin is smaller [m]
EPSILON = 1e-9          # difference below which two distances count as equal [m]
REUSE_DISTANCE = 0.003  # gap (distance - margin) below which rows are kept for later steps [m]
REUSE_MOTION = 0.05     # motion of any joint after which a kept row is dropped [rad, m]
MAX_PAIRS = 40          # maximum number of pairs of a barrier that get rows in a step: the nearest
ZERO_VELOCITY = [0.0, 0.0, 0.0]
GRADIENT_JUMP = 0.02    # change of a gradient that counts as a jump of nearest points [m/rad, 1]


class NearPair(NamedTuple):
    """A pair near its margin: gap (distance - margin) [m], names, gradient of the gap (nv,)."""

    gap: float
    names: tuple[str, str]
    gradient: Array


class DistanceRows(NamedTuple):
    """Rows (k, NUMBERS + nv) of a barrier's pairs; see the table `gaps` of `velocity_rows`."""

    barrier: str
    rows: Array
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def labels(self) -> list[str]:
        """The name of each row: name of the barrier, then the names of the pair."""
        named = [f"of '{one}' and '{other}'" for one, other in self.pairs]
        return [self.barrier if pair in self.barrier else f'{self.barrier} {pair}'
                for pair in named]


class KeptRow(NamedTuple):
    """The row of a pair at the configuration `q` (nq,), kept for later steps."""

    pair: tuple[str, str]
    q: Array
    row: Array


def check_objects(names: Iterable[str], scene: Scene) -> None:
    """Raise UnknownObjectError unless all names are world objects of the scene."""
    for name in names:
        if name not in scene.objects:
            raise UnknownObjectError(name, tuple(scene.objects))


class DistanceConstraints:
    """
    Constraints that keep all pairs of a checker >= `margin` [m] apart, in consecutive steps.

    A step closes at most the fraction `gain` of a gap (distance - margin). A negative gap opens
    at up to `push` [m/s]. `restrict` returns a checker of only the constrained pairs.
    Distances are not computed in each step: a distance decreases at most by the motion of both
    bodies, so updates of lower bounds suffice until a pair may be near.

    In a step, call `rows_at_start`, then `rows_for_step` and `excess_at` for candidate ends; the
    last call must be for the end that is used.
    """

    _at_start: DistanceBounds  # lower bounds of the distances at the start of the step
    _at_end: DistanceBounds    # lower bounds at the last end examined; initially `_at_start`

    def __init__(self, name: str, checker: CollisionChecker, margin: float, gain: float,
                 push: float, dt: float,
                 restrict: Callable[[CollisionChecker], CollisionChecker]) -> None:
        self.name, self._margin, self._dt = name, margin, dt
        self._gain, self.restrict = gain, restrict
        # template of a row, without distance and gradient
        self._row = np.zeros(column.NUMBERS + checker.robot.nv)
        self._row[[column.KIND, column.LOWER, column.UPPER, column.MIN_RATE, column.MAX_RATE,
                   column.GAIN, column.PUSH]] = (column.BOUNDED, margin, np.inf, -np.inf, np.inf,
                                                 gain, push)
        self._none = DistanceRows(name, self._row[None][:0])
        self._slack = max(SLACK * margin, MIN_SLACK)
        self._near, self._nearest = self._none, np.inf
        self.set_scene(restrict(checker), {})

    def set_scene(self, checker: CollisionChecker, velocities: Mapping[str, list[float]],
                  owned: bool = False) -> None:
        """Set the restricted checker (may be changed if `owned`) and object velocities [m/s]."""
        self._checker, self._is_owned = checker, owned
        self._check, self._is_new, self._has_moved = self._checker.distance_check, True, False
        self._set_velocities(velocities)

    @property
    def scene(self) -> Scene:
        """The scene of the checker."""
        return self._checker.scene

    def move(self, names: Sequence[str], poses: Array,
             velocities: Mapping[str, list[float]]) -> None:
        """Set the poses (k, 4, 4) of named objects, and object velocities, in the root frame."""
        if names:
            if not self._is_owned:
                self.set_scene(self._checker.copy(), velocities, owned=True)
            self._check.move(names, poses)
            self._has_moved = True
        self._set_velocities(velocities)

    def _set_velocities(self, velocities: Mapping[str, list[float]]) -> None:
        # drop kept rows, because they do not follow moving objects
        self._velocities = velocities
        self._last, self._next = list[KeptRow](), list[KeptRow]()
        # distance that the fastest object moves in a step [m]
        speed = max((math.hypot(*velocity) for velocity in velocities.values()), default=0.0)
        self._object_motion = speed * self._dt

    def rows_at_start(self, q: Array) -> DistanceRows:
        """Return the rows of pairs that are near each other at q, or approach each other fast."""
        # without bounds from an earlier step: compute all bounds from scratch
        if self._is_new:
            self._at_end = at = self._check.broad_phase.bounds_at(q)
            self._needed = np.full(len(at.lower_bounds), ROW_DISTANCE + FIRST_SPEED * self._dt)
        elif self._has_moved or not np.array_equal(q, self._at_end.q):
            self._at_end = self._check.broad_phase.bounds_at(q, self._at_end)
        self._at_start, self._last = self._at_end, self._next
        self._is_new = self._has_moved = False
        self._reach = (np.maximum(LOOKAHEAD * self._needed, ROW_DISTANCE) + self._margin
                       + self._object_motion)
        return self._find_rows()

    def rows_for_step(self, end: Array, stop: float) -> DistanceRows | None:
        """
        Return a new set of rows if a step to `end` (nq,) approaches pairs without a row, or None.

        `stop` [s] is the time that the joints need to brake after this step. A pair needs a row if
        further steps like this one would close its gap within max(1 / gain, 1 + stop / dt) steps.
        """
        # A row limits steps that close more than `gain` of the gap, or leave less than the braking
        # distance. Joint velocities v, braked at half the acceleration limits a, close a gap with
        # gradient r by (r.v)^2 / (|r|.a), which is at most r.v times `stop` = max(|v| / a).
        steps = PATH_RATIO * max(1.0 / self._gain, 1.0 + stop / self._dt)
        self._at_end = self._check.broad_phase.bounds_at(end, self._at_start)
        self._needed = steps * (self._at_end.max_decrease + self._object_motion)
        reach = self._needed + self._margin + self._object_motion
        new = (reach > self._reach) & (self._at_start.lower_bounds < reach)
        if not new.any():
            return None
        self._reach = np.maximum(reach, self._reach)
        return self._find_rows()

    def _distances(self, at: DistanceBounds, reach: Array, max_count: int | None) -> Distances:
        robot = self._checker.robot
        data = robot.scratch_data()
        pin.computeJointJacobians(robot.model, data, at.q)
        return self._check.distances(data, at, reach, max_count)

    def _approach(self, names: tuple[str, str], normal: Array) -> float:
        """Return the speed [m/s] at which the objects' own motion closes the gap of a pair."""
        one, other = (self._velocities.get(name, ZERO_VELOCITY) for name in names)
        return float(normal @ np.subtract(one, other))

    def _find_rows(self) -> DistanceRows:
        """Compute the rows of the nearest pairs with distances below `_reach`; add kept rows."""
        self._near, self._nearest, self._next = self._none, np.inf, []
        if (self._at_start.lower_bounds < self._reach).any():
            found = self._distances(self._at_start, self._reach, MAX_PAIRS)
            rows = np.tile(self._row, (len(found.distance), 1))
            rows[:, column.VALUE], rows[:, column.NUMBERS:] = found.distance, found.jacobian
            if self._velocities:
                rows[:, column.APPROACH] = list(map(self._approach, found.names, found.normal))
            self._nearest = float(found.distance[0]) if len(rows) else np.inf
            self._near = DistanceRows(self.name, rows, found.names)
            self._add_kept(self._at_start.q)
        return self._near

    def _add_kept(self, q: Array) -> None:
        """
        Add rows of earlier steps for near pairs whose nearest points have jumped since then.

        If a link lies along another link, the nearest points alternate between both ends of the
        link: with a row for one end only, each step moves the other end closer. (In 96 runs that
        pulled a hand into the arm's column, hands reversed 2400 times in total in the last second
        without kept rows, and 75 times with kept rows.)
        """
        limit, (_, rows, pairs) = self._margin + REUSE_DISTANCE, self._near
        # rows of the present nearest points, which later steps may need
        here = [KeptRow(pair, q, row) for pair, row, distance in zip(
            pairs, rows, rows[:, column.VALUE].tolist(), strict=True) if distance < limit]
        for kept in self._last:
            gradient = kept.row[column.NUMBERS:]
            changes = [one.row[column.NUMBERS:] - gradient for one in here
                       if one.pair == kept.pair]
            # the pair has moved away, or a present row has the nearest points of `kept`
            if not changes or min([change.dot(change) for change in changes]) < GRADIENT_JUMP**2:
                continue
            # the distance between the old nearest points at q, to first order
            motion, row = pin.difference(self._checker.robot.model, kept.q, q), kept.row.copy()
            row[column.VALUE] += gradient @ motion
            if row[column.VALUE] < limit and np.abs(motion).max() < REUSE_MOTION:
                self._next.append(kept)
                self._near = DistanceRows(self.name, np.vstack([self._near.rows, row]),
                                          (*self._near.pairs, kept.pair))
        self._next += here

    def near_pairs(self, within: float) -> list[NearPair]:
        """Return the pairs of the last step with a gap (distance - margin) below `within` [m]."""
        _, rows, pairs = self._near
        gaps = (rows[:, column.VALUE] - self._margin).tolist()
        return [NearPair(gap, pair, row[column.NUMBERS:])
                for gap, row, pair in zip(gaps, rows, pairs, strict=True) if gap < within]

    def excess_at(self, end: Array) -> float:
        """Return how far [m] distances at `end` (nq,) are below the least allowed one, or 0."""
        # margin minus slack, or the smallest distance at the start if that is smaller
        least = min(self._margin - self._slack, self._nearest) - EPSILON
        if not np.array_equal(end, self._at_end.q):
            self._at_end = self._check.broad_phase.bounds_at(end, self._at_start)
        # exact distances only if the lower bounds do not suffice
        if self._at_end.nearest >= least:
            return 0.0
        found = self._distances(self._at_end, np.full(len(self._at_end.lower_bounds), least),
                                None if self._velocities else 1)
        # these distances are to objects at their old poses: add the motion of objects moving away
        away = [max(-self._approach(*pair), 0.0) * self._dt
                for pair in zip(found.names, found.normal, strict=True)]
        return float((least - found.distance - away).max(initial=0.0))
