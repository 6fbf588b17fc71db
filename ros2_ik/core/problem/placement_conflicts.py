"""Demands on how bodies are placed relative to each other that cannot all be met."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
import math
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import RelativeFunction
from ros2_ik.core.functions.implications import (
    boxed,
    Cone,
    cross,
    dot,
    Implication,
    Place,
    Shell,
    Sight,
    Slab,
    Tube,
    Turn,
    turned,
    Vector,
)
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.mobility import mobility_of
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Configuration

HAIR, FINE = 1e-9, 1e-7     # part of lengths, and angle [rad], that rounding may come to
PARALLEL = 1e-14            # sine between normals that differ by rounding
FAR = math.pi / 3           # a rotation as uncertain as that says no more of a point than none
ORIGIN = (0.0, 0.0, 0.0)


class Ball(NamedTuple):
    """A point is within `radius` of `center`, as the demands `names` say."""

    center: Vector
    radius: float
    names: tuple[str, ...]


def placements_apart(problem: IKProblem) -> Iterator[str]:
    """
    Return which demands on one body seen from another exclude each other.

    Compared are, in pairs, what targets and constraints say of rotations, of directions and of
    points, with what the limits of the joints leave; and what a rotation and a point together say
    of other points. None where demands are met, tolerances counted.
    """
    # whether an arm gets to a target is worked out where no search finds it
    limits_matter = bool(problem.constraints)
    if not limits_matter and len(problem.targets) < 2:
        return
    known = _gathered(problem)
    for (frame, relative_to), demands in known.items():
        if relative_to is not None:
            demands += _between(known, frame, relative_to)
    for (frame, relative_to), demands in known.items():
        if frame is not None and relative_to is None and limits_matter:
            # not what the changes of joints leave: the search tells what lies beyond that
            demands += _possible(problem.bounded(None), frame, demands)
        yield from _excluded(demands)


T = TypeVar('T', Turn, Shell)
Known = dict[tuple[str | None, str | None], list[Implication]]


def _gathered(problem: IKProblem) -> Known:
    """Return what is demanded, by the frames that stand for all those fixed to them."""
    bodies, known = _Bodies(problem), Known()
    for frame, relative_to, demands in _demands(problem):
        (F, T_F), (A, T_A) = bodies.of(frame), bodies.of(relative_to)
        found: list[Implication] = list(demands) if T_F is T_A is _SAME else [
            demand.seen(T_F, T_A) for demand in demands]
        if F is None and A is not None:
            F, A, found = A, F, _backwards(found)
        if F == A:
            seen = '' if relative_to is None else f" seen from '{relative_to}'"
            name = f"where '{frame}' stays{seen}"
            found += [Turn(name, np.eye(3), 0.0, 0.0), Shell(name, ORIGIN, ORIGIN, 0.0, 0.0)]
        known.setdefault((F, A), []).extend(found)
    backwards = {(F, A): _backwards(known[A, F]) for F, A in known
                 if F != A and (A, F) in known}
    for pair, found in backwards.items():
        known[pair] += found
    return known


def _backwards(demands: Sequence[Implication]) -> list[Implication]:
    """Return what they say of the one body seen from the other."""
    return [one.inverse() for one in demands if isinstance(one, (Turn, Cone, Shell))]


class _Bodies:
    """The frames that stand for all those fixed to them: None for the root frame's."""

    def __init__(self, problem: IKProblem) -> None:
        self._problem, self._moving = problem, set(problem.joint_names)
        self._known: dict[str | None, tuple[str | None, Any]] = {None: (None, _SAME)}

    @cached_property
    def _at(self) -> Configuration:
        return Configuration(self._problem.robot, self._problem.start)

    def of(self, frame: str | None) -> tuple[str | None, Any]:
        """Return the frame that stands for one, and where that is there; _SAME for itself."""
        if frame in self._known:
            return self._known[frame]
        assert frame is not None
        robot = self._problem.robot
        for other in [other for other, (stands, _) in self._known.items() if other == stands]:
            if not robot.moving_joints(frame, other) & self._moving:
                T = self._at.placement(frame)
                there = T if other is None else self._at.placement(other).actInv(T)
                self._known[frame] = other, there
                return other, there
        self._known[frame] = frame, _SAME
        return self._known[frame]


_SAME = pin.SE3.Identity()


def _demands(problem: IKProblem) -> Iterator[tuple[str, str | None, list[Implication]]]:
    for target in problem.targets:
        yield target.tip, target.relative_to, _of_target(target)
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        if isinstance(function, RelativeFunction):
            # no value is outside the range
            found = function.implies(constraint.name, *(
                np.clip(bound, *function.range) for bound in (constraint.lower - slack,
                                                              constraint.upper + slack)))
            yield function.frame, function.relative_to, list(found)


def _of_target(target: PoseTarget) -> list[Implication]:
    name, reference = f"target of '{target.tip}'", target.function.reference
    found: list[Implication] = []
    for rows, tolerance in ((slice(0, 3), target.position_tolerance),
                            (slice(3, 6), target.orientation_tolerance)):
        axes = ''.join(axis for axis, counts in zip('xyz', target.counted[rows], strict=True)
                       if counts)
        if not axes:
            continue
        most = np.full(len(axes), tolerance)
        if rows.start == 3:
            found += turned(name, reference.rotation, np.eye(3), axes, -most, most)
        else:
            found += boxed(name, ORIGIN, reference.rotation, reference.translation, axes, -most,
                           most)
    return [_no_wider(one, target) for one in found]


def _no_wider(one: Implication, target: PoseTarget) -> Implication:
    """Bound the length of the rows by the tolerance, not each of them."""
    if isinstance(one, (Turn, Cone)) and one.upper < math.pi:
        return one._replace(upper=min(one.upper, target.orientation_tolerance))
    return one._replace(upper=target.position_tolerance) if isinstance(one, Shell) else one


def _possible(problem: IKProblem, frame: str, demands: Sequence[Implication]) -> list[Implication]:
    """Return what the joints leave a frame of what is demanded of it."""
    moves = mobility_of(problem, frame)
    if not moves.is_bounded:
        return []
    found: list[Implication | None] = [moves.turn, moves.axis]
    points = {tuple(one.P) for one in demands if isinstance(one, (Shell, Slab, Tube, Sight))}
    for point in points:
        found += [moves.stretched(point), moves.around(point), *moves.slabs(point)]
    return [one for one in found if one is not None]


def _between(known: Known, frame: str | None, relative_to: str) -> list[Implication]:
    """Return what the poses of two frames in the root frame say of the one seen from the other."""
    pose, base = (_pose(known.get((one, None), [])) for one in (frame, relative_to))
    if pose is None or base is None:
        return []
    (one, at), (other, away) = pose, base
    name = '\n'.join(dict.fromkeys((one.name, at.name, other.name, away.name)))
    back = other.R.T
    p = [x - y for x, y in zip(_origin(one, at), _origin(other, away), strict=True)]
    off = at.upper + _lever(one, at) + away.upper + _lever(other, away)
    return [Turn(name, back @ one.R, 0.0, one.upper + other.upper),
            Shell(name, ORIGIN, (back @ p).tolist(), 0.0,
                  off + math.hypot(*p) * _chord(other.upper))]


def _pose(demands: Sequence[Implication]) -> tuple[Turn, Shell] | None:
    """Return what a pose is closest to."""
    turn, place = _closest(demands, Turn), _closest(demands, Shell)
    return None if turn is None or place is None else (turn, place)


def _closest(demands: Sequence[Implication], kind: type[T]) -> T | None:
    most = math.pi if kind is Turn else math.inf
    return min((one for one in demands if isinstance(one, kind) and one.upper < most),
               key=lambda one: one.upper, default=None)


def _chord(angle: float) -> float:
    return 2 * math.sin(min(angle, math.pi) / 2)


def _origin(turn: Turn, place: Shell) -> Vector:
    """Return where the frame's origin is."""
    found: Vector = (np.asarray(place.c) - turn.R @ np.asarray(place.P)).tolist()
    return found


def _lever(turn: Turn, place: Shell) -> float:
    return math.hypot(*place.P) * _chord(turn.upper)


def _excluded(demands: Sequence[Implication]) -> Iterator[str]:
    turns = [one for one in demands if isinstance(one, Turn)]
    cones = [one for one in demands if isinstance(one, Cone)]
    places = [one for one in demands if isinstance(one, (Shell, Slab, Tube))]
    turn = _closest(turns, Turn)
    balls = [(place, turn) for place in places
             if isinstance(place, Shell) and place.upper < math.inf]
    for place in places:
        yield from _missed(place, balls)
    for one, other in combinations(places, 2):
        yield from _points_apart(one, other)
    for sight in demands:
        if isinstance(sight, Sight):
            cones += _looks(sight, balls)
    for turned_by, again in combinations(turns, 2):
        apart = _angle_between(turned_by.R, again.R)
        yield from _told((turned_by.name, again.name), max(
            apart - turned_by.upper - again.upper, turned_by.lower - apart - again.upper,
            again.lower - apart - turned_by.upper) - FINE, 'rad')
    for cone in cones:
        for turned_by in turns:
            angle = _angle(turned_by.R @ np.asarray(cone.a), cone.b)
            room = turned_by.upper + FINE
            yield from _told((cone.name, turned_by.name), max(
                angle - room - cone.upper, cone.lower - angle - room), 'rad')
    for cone, beside in combinations(cones, 2):
        yield from _told((cone.name, beside.name), _cones_apart(cone, beside) - FINE, 'rad')


def _told(names: tuple[str, ...], missing: float, unit: str) -> Iterator[str]:
    if missing > 0:
        names = tuple(dict.fromkeys(name for given in names for name in given.split('\n')))
        what = (f"{' and '.join(names)} exclude each other" if len(names) > 1
                else f'{names[0]} excludes itself')
        yield f'{what}: {missing:.4g} {unit} are missing'


def _within(point: Vector, place: Shell, turn: Turn | None) -> Ball:
    """Return where a point of a body is, of which another point's place is known."""
    arm = [x - y for x, y in zip(point, place.P, strict=True)]
    length = math.hypot(*arm)
    if turn is None or not length or turn.upper >= FAR:
        return Ball(place.c, place.upper + length, (place.name,))
    center = np.asarray(place.c) + turn.R @ np.asarray(arm)
    return Ball(center.tolist(), place.upper + length * _chord(turn.upper),
                (place.name, turn.name))


def _missed(place: Place, balls: list[tuple[Shell, Turn | None]]) -> Iterator[str]:
    """Compare a place with where other demands have the point."""
    for other, turn in balls:
        if other is place:
            continue
        ball = _within(place.P, other, turn)
        value = place.at(ball.center)
        hair = HAIR * (1 + abs(value) + math.hypot(*ball.center) + ball.radius)
        yield from _told((place.name, *ball.names), max(
            value - ball.radius - place.upper, place.lower - value - ball.radius) - hair, 'm')


def _points_apart(one: Place, other: Place) -> Iterator[str]:
    """Compare two places of points whose distance is fixed."""
    length = math.dist(one.P, other.P)
    if isinstance(one, Shell) and isinstance(other, Shell):
        # of the four sides c P P' c' none is longer than the others together
        apart = math.dist(one.c, other.c)
        missing = max(apart - length - one.upper - other.upper,
                      length - apart - one.upper - other.upper,
                      one.lower - apart - length - other.upper,
                      other.lower - apart - length - one.upper)
        size = apart + length + math.hypot(*one.c) + math.hypot(*one.P)
    elif isinstance(one, Slab) and isinstance(other, Slab):
        if math.hypot(*cross(one.n, other.n)) > PARALLEL:
            return
        low, high = other.lower, other.upper
        if dot(one.n, other.n) < 0:
            low, high = -high, -low
        missing = max(one.lower - high, low - one.upper) - length
        size = length + sum(abs(bound) for bound in (*one[3:], low, high) if math.isfinite(bound))
        missing -= FINE      # for points far away, where normals are not quite the same
    else:
        return
    yield from _told((one.name, other.name), missing - HAIR * (1 + size), 'm')


def _looks(sight: Sight, balls: list[tuple[Shell, Turn | None]]) -> Iterator[Cone]:
    """Return the directions of a gaze whose origin is known."""
    for place, turn in balls:
        ball = _within(sight.P, place, turn)
        away = math.dist(sight.c, ball.center)
        if away <= 2 * ball.radius or away < 1e-6:
            continue
        room = math.asin(ball.radius / away)
        ray = [(x - y) / away for x, y in zip(sight.c, ball.center, strict=True)]
        yield Cone('\n'.join((sight.name, *ball.names)), sight.a, ray,
                   max(sight.lower - room, 0.0), min(sight.upper + room, math.pi))


def _cones_apart(one: Cone, other: Cone) -> float:
    """Return by how much two angles leave no room for the angle between their vectors."""
    alpha, beta = _angle(one.a, other.a), _angle(one.b, other.b)
    # an angle of at least x to b is one of at most pi - x to -b
    return max(abs(alpha - apart) - first - second
               for first, turned_one in ((one.upper, False), (math.pi - one.lower, True))
               for second, turned_other in ((other.upper, False), (math.pi - other.lower, True))
               for apart in ((math.pi - beta) if turned_one != turned_other else beta,))


def _angle(a: Any, b: Any) -> float:
    return math.atan2(math.hypot(*cross(a, b)), dot(a, b))


def _angle_between(one: Array, other: Array) -> float:
    """Return the angle of the rotation from one to the other."""
    off = (one - other).reshape(-1)
    return 2 * math.asin(min(1.0, math.sqrt(float(off @ off) / 8)))
