"""How far the limits of joints let a frame turn and move."""

from functools import cached_property, lru_cache
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.implications import Cone, Shell, Slab, Turn, Vector
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.tree import (
    FLOATING,
    held_places,
    PRISMATIC,
    REVOLUTE,
    Tree,
    tree_of,
    Uncompared,
)

WIDE = 2 * math.pi   # turns of all joints together that lead about anywhere
SAME = 1e-9          # part by which lengths that differ only by rounding may do so
PARALLEL = 1e-12     # sine between axes that count as parallel
ROUNDING = 1e-14     # part of a sum of squares, of a unit vector


def mobility_of(problem: IKProblem, frame: str) -> 'Mobility':
    """Return how far the limits of a problem's joints let a frame turn and move."""
    robot, active = problem.robot, problem.active
    held = held_places(robot, (robot.frame_id(frame),), active.names)
    return _mobility(robot, frame, active.names, problem.start[held].tobytes(),
                     Uncompared(problem.start), Limits(active.lower, active.upper,
                                                       problem.change_bound is not None))


class Limits:
    """Limits of the active joints, in the tangent space's order, compared by value."""

    def __init__(self, lower: Array, upper: Array, changes: bool) -> None:
        self.lower, self.upper, self.changes = lower, upper, changes
        self._key = lower.tobytes(), upper.tobytes(), changes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Mobility:
    """
    What holds of a frame seen from the root frame, whatever the values of the joints.

    Told are rotations and points that it cannot leave: by the sum of what each joint may turn
    and move it by; by the lengths of the stretched and of the folded chain; and of chains whose
    axes are all parallel, the direction that stays, and how far points get along it. Followers
    count as joints of their own.
    """

    def __init__(self, frame: str, chain: Tree, limits: Limits) -> None:
        self._frame = frame
        self._limits = (f"limits{' and max_joint_change' * limits.changes} of the joints that "
                        f"move '{frame}'")
        self._parallel = f"parallel axes of the joints that move '{frame}'"
        # a base that moves about may be anywhere
        self.is_bounded = len(chain.kind) > 0 and FLOATING not in chain.kind
        if not self.is_bounded:
            return
        first, second = (chain.multiplier * limit[chain.column] + chain.offset
                         for limit in (limits.lower, limits.upper))
        self.first_column = int(chain.column[0])     # among those of the active joints
        self._kinds = chain.kind.tolist()
        self._lower = np.minimum(first, second).tolist()
        self._upper = np.maximum(first, second).tolist()
        self._before = chain.before
        self._mounting = chain.mounting[0]

    @cached_property
    def _halves(self) -> list[tuple[float, float]]:
        """Middle of the values of each joint and half their range, half a turn at most."""
        found = []
        for kind, lower, upper in zip(self._kinds, self._lower, self._upper, strict=True):
            half = (upper - lower) / 2
            if kind == REVOLUTE and not half < math.pi:
                found.append((0.0, math.pi))
            elif math.isfinite(half):
                found.append((lower + half, half))
            else:
                found.append((0.0, math.inf))
        return found

    @cached_property
    def _spread(self) -> float:
        """The sum of these halves, of the joints that turn."""
        return sum(half for kind, (_, half) in zip(self._kinds, self._halves, strict=True)
                   if kind == REVOLUTE)

    @cached_property
    def turn(self) -> Turn | None:
        """Return the rotations that the ranges of the joints add up to, where not all."""
        halves = self._halves
        if self._spread >= math.pi:
            return None
        R = np.eye(3)
        for before, kind, (middle, _) in zip(self._before, self._kinds, halves, strict=True):
            R = R @ before[:9].reshape(3, 3)
            if kind == REVOLUTE:
                R = R @ _about_z(middle)
        return Turn(self._limits, R @ self._mounting[:9].reshape(3, 3), 0.0, self._spread)

    @cached_property
    def axis(self) -> Cone | None:
        """Return the direction that stays where it is, where all axes are parallel."""
        if self._along is None:
            return None
        seen, along = self._along
        return Cone(self._parallel, seen.tolist(), along.tolist(), 0.0, 0.0)

    @cached_property
    def _along(self) -> tuple[Array, Array] | None:
        """The direction of parallel axes in the frame and in the root frame."""
        R, along = np.eye(3), None
        for before, kind in zip(self._before, self._kinds, strict=True):
            R = R @ before[:9].reshape(3, 3)
            if kind != REVOLUTE:
                continue
            if along is None:
                along, R = R[:, 2], np.eye(3)     # from here on seen from the first axis
            elif math.hypot(R[0, 2], R[1, 2]) > PARALLEL:
                return None
        return None if along is None else ((R @ self._mounting[:9].reshape(3, 3))[2], along)

    def slabs(self, point: Vector) -> list[Slab]:
        """Return where a point stays along directions that no joint turns."""
        if REVOLUTE not in self._kinds:
            directions = np.eye(3)
        elif self._along is not None:
            directions = self._along[1][None]
        else:
            return []
        T, low, high = np.eye(4), np.zeros(len(directions)), np.zeros(len(directions))
        for before, kind, lower, upper in zip(self._before, self._kinds, self._lower, self._upper,
                                              strict=True):
            T = T @ _matrix(before)
            if kind == PRISMATIC:
                along = directions @ T[:3, 2]
                moves = np.abs(along) > ROUNDING
                ends = along[moves] * lower, along[moves] * upper
                low[moves] += np.minimum(*ends)
                high[moves] += np.maximum(*ends)
        at = directions @ (T @ _matrix(self._mounting) @ [*point, 1.0])[:3]
        return [Slab(self._limits, point, n, a, b) for n, a, b in zip(
            directions.tolist(), (at + low).tolist(), (at + high).tolist(), strict=True)]

    def around(self, point: Vector) -> Shell | None:
        """Return the ball that the ranges of the joints keep a point of the frame in."""
        if self._spread >= WIDE:      # the stretched chain says more
            return None
        p, r = _act(self._mounting, point), 0.0
        for before, kind, (middle, half) in zip(self._before[::-1], self._kinds[::-1],
                                                self._halves[::-1], strict=True):
            if kind == PRISMATIC:
                r += half
                p[2] += middle
            else:
                r += 2 * math.sin(half / 2) * math.hypot(p[0], p[1])
                c, s = math.cos(middle), math.sin(middle)
                p[0], p[1] = c * p[0] - s * p[1], s * p[0] + c * p[1]
            p = _act(before, p)
        return Shell(self._limits, point, p, 0.0, r) if math.isfinite(r) else None

    def stretched(self, point: Vector) -> Shell:
        """Return between which distances from the first joint's origin a point stays."""
        ranges = self._lengths(point)
        longest = sum(high for _, high in ranges)
        # the others, all in line, fold back along the longest one
        shortest = max(low - (longest - high) for low, high in ranges) if math.isfinite(
            longest) else 0.0
        return Shell(f"reach of '{self._frame}'", point, self._before[0, 9:].tolist(),
                     max(shortest, 0.0), longest)

    def _lengths(self, point: Vector) -> list[tuple[float, float]]:
        """
        Return between which lengths the parts of the chain are, from joint to joint.

        Two that meet in a joint whose limits bend them are one where that is shorter.
        """
        ends = [*(before[9:].tolist() for before in self._before[1:]),
                _act(self._mounting, point)]
        found: list[tuple[float, list[tuple[float, float]]]] = [(0.0, [])] * 2
        for k in range(len(ends) - 1, -1, -1):
            turns = self._kinds[k] == REVOLUTE
            length = math.hypot(*ends[k])
            part = (length, length) if turns else _along_z(ends[k], self._lower[k],
                                                           self._upper[k])
            ways = [(part, found[0])]
            if turns and self._kinds[k + 1:k + 2] == [REVOLUTE]:
                ways.append((self._bent(k + 1, ends[k], ends[k + 1]), found[1]))
            best = min(((part[1] + longest, [part, *parts]) for part, (longest, parts) in ways),
                       key=lambda way: way[0] * (1 + SAME * len(way[1])))
            found = [best, found[0]]
        return found[0][1]

    def _bent(self, k: int, before: Vector, after: Vector) -> tuple[float, float]:
        """Return between which lengths two parts are that meet in a joint that turns."""
        u = self._before[k, :9].reshape(3, 3).T @ before
        c = u[0] * after[0] + u[1] * after[1]
        s = u[1] * after[0] - u[0] * after[1]
        reach = 2 * math.hypot(c, s)
        low, high = _cosines(self._lower[k], self._upper[k], math.atan2(s, c))
        squares = math.hypot(*before)**2 + math.hypot(*after)**2
        middle, hair = squares + 2 * u[2] * after[2], ROUNDING * squares
        return (math.sqrt(max(middle + reach * low - hair, 0.0)),
                math.sqrt(max(middle + reach * high + hair, 0.0)))


@lru_cache(maxsize=64)
def _mobility(robot: Robot, frame: str, names: tuple[str, ...], held: bytes, start: Uncompared,
              limits: Limits) -> Mobility:
    return Mobility(frame, tree_of(robot, (robot.frame_id(frame),), names, start.q), limits)


def _about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _matrix(twelve: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = twelve[:9].reshape(3, 3), twelve[9:]
    return T


def _act(twelve: Array, p: Any) -> list[float]:
    moved: list[float] = (twelve[:9].reshape(3, 3) @ p + twelve[9:]).tolist()
    return moved


def _along_z(end: Vector, lower: float, upper: float) -> tuple[float, float]:
    """Return between which lengths a vector is to which lower .. upper is added along z."""
    side, low, high = math.hypot(end[0], end[1]), end[2] + lower, end[2] + upper
    least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return math.hypot(side, least), math.hypot(side, max(abs(low), abs(high)))


def _cosines(lower: float, upper: float, phase: float) -> tuple[float, float]:
    """Return the least and greatest cos(x - phase) for x from lower to upper."""
    if not upper - lower < 2 * math.pi:
        return -1.0, 1.0
    low, high = lower - phase, upper - phase
    ends = math.cos(low), math.cos(high)

    def meets(angle: float) -> bool:
        """Return whether the angle is between them, whatever its turns."""
        return math.ceil((low - angle) / (2 * math.pi)) * 2 * math.pi + angle <= high
    return (-1.0 if meets(math.pi) else min(ends)), (1.0 if meets(0.0) else max(ends))
