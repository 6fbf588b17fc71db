"""Tool paths: poses as a function of the path length."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
import math

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core.arrays import Array, ArrayLike, Pose
from ros2_ik.core.checks import direction, finite, listed, vector
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.poses import as_transform

# path length of a rotation in place [m/rad]
ROTATION_LENGTH = 0.2
# length below which a path has no direction [m]
MIN_LENGTH = 1e-9
# ratio of height and longest side below which three points count as collinear
COLLINEAR_RATIO = 1e-6
# change of direction at a corner above which motions stop there [rad]
SHARP = 0.3
# lines between two poses of a spline; at a radius of 0.1 m they are within 1e-5 m
N_FINE = 100


class ToolPath(ABC):
    """
    Base class of tool paths: poses (4, 4) over a parameter s from 0 to `length` [m].

    `length` is the larger of two lengths: the distance that the tool moves, and 0.2 m for each
    radian that the tool rotates. `knots` (k,) are the parameters of the given poses, `stops` (l,)
    those of sharp corners, where motions stop. Poses are relative to the frame of the target.
    Raises InvalidTargetError for a path of length zero.
    """

    stops = np.zeros(0)

    def __init__(self, length: float, knots: Array | None = None) -> None:
        self.length = float(length)
        self.knots = np.array([0.0, self.length]) if knots is None else knots
        if self.length < MIN_LENGTH:
            raise InvalidTargetError('the path has length zero: start and end are equal')

    @abstractmethod
    def pose(self, s: float) -> Array:
        """Return the pose (4, 4) of the tool at a parameter s in [0, length]."""


class _SteadyPath(ToolPath):
    """
    Base class of paths with constant velocity.

    The tool moves along a helix: from the point `start` it turns by `turn` (3,) [rad] about an
    axis through `centre`, and moves by `travel` (3,) [m]. At the same time its orientation turns
    by `rotation` (3,) [rad]. All vectors have the axes of the target's frame.
    """

    def __init__(self, start: Array, centre: Array, turn: Array, travel: Array,
                 rotation: Array) -> None:
        self._orientation, self._arm = start[:3, :3], start[:3, 3] - centre
        self._centre, self._turn, self._travel, self._rotation = centre, turn, travel, rotation
        distance = math.hypot(*(pin.skew(turn) @ self._arm), *travel)
        super().__init__(max(distance, ROTATION_LENGTH * math.hypot(*rotation)))

    def pose(self, s: float) -> Array:
        part = s / self.length
        return _pose(pin.exp3(part * self._rotation) @ self._orientation,
                     self._centre + pin.exp3(part * self._turn) @ self._arm + part * self._travel)


class Line(_SteadyPath):
    """Straight line between two poses, with a rotation by less than pi about a fixed axis."""

    def __init__(self, start: Pose, end: Pose) -> None:
        first, last = as_transform(start, 'start'), as_transform(end, 'end')
        travel, rotation = last[:3, 3] - first[:3, 3], rotation_between(first, last)
        super().__init__(first, first[:3, 3], np.zeros(3), travel, rotation)
        # translation and rotation (6,) [m]
        self.displacement = np.concatenate([travel, ROTATION_LENGTH * rotation])


class Arc(_SteadyPath):
    """
    Circular arc from the pose `start` through the point `through` (3,) [m] to the pose `end`.

    The tool rotates from the orientation of `start` to that of `end` about one fixed axis.
    """

    def __init__(self, start: Pose, through: 'ArrayLike', end: Pose) -> None:
        first, last = as_transform(start, 'start'), as_transform(end, 'end')
        p = first[:3, 3]
        a, b = vector(through, 'through', 3, InvalidTargetError) - p, last[:3, 3] - p
        normal = np.cross(a, b)
        if np.linalg.norm(normal) <= COLLINEAR_RATIO * max(a @ a, b @ b):
            raise InvalidTargetError('start, through and end of the arc are on a line; valid: '
                                     'three points of a circle (for a full circle use Screw)')
        # vector from the centre of the circle through 0, a and b to the start (circumcentre
        # formula), and the axis in the plane of the circle perpendicular to this vector
        x = -np.cross((a @ a) * b - (b @ b) * a, normal) / (2 * normal @ normal)
        axis = normal / np.linalg.norm(normal)
        y = np.cross(axis, x)
        angle = math.atan2((b + x) @ y, (b + x) @ x) % math.tau
        super().__init__(first, p - x, angle * axis, np.zeros(3), rotation_between(first, last))


class Screw(_SteadyPath):
    """
    Rotation of the pose `start` by `angle` [rad] about an axis, with a translation along the axis.

    `point` (3,) [m] is a point on the axis, `axis` (3,) its direction, both relative to the same
    frame as `start`. `travel` [m] is the translation. The angle may exceed a full turn.
    """

    def __init__(self, start: Pose, point: 'ArrayLike', axis: 'ArrayLike', angle: float,
                 travel: float = 0.0) -> None:
        fault = InvalidTargetError
        along = direction(axis, 'axis', fault)
        turn = finite(angle, 'angle', fault) * along
        super().__init__(as_transform(start, 'start'), vector(point, 'point', 3, fault), turn,
                         finite(travel, 'travel', fault) * along, turn)


class Waypoints(ToolPath):
    """At least two poses (4, 4), connected by lines."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        given = listed(poses)
        if given is None or len(given) < 2:
            raise InvalidTargetError('a path is a Line, Arc, Screw, Spline or Waypoints, or a '
                                     f'list of at least two poses, not {poses!r}')
        self._lines = list[Line]()
        for i, pair in enumerate(zip(given, given[1:], strict=False)):
            try:
                self._lines.append(Line(*pair))
            except InvalidTargetError as error:
                raise InvalidTargetError(f'from pose {i} to pose {i + 1}: {error}') from None
        self._ends = np.cumsum([0.0, *(line.length for line in self._lines)])
        super().__init__(self._ends[-1], self._ends)
        moves = np.array([line.displacement for line in self._lines])
        moves /= np.linalg.norm(moves, axis=1, keepdims=True)
        self.stops = self.knots[1:-1][(moves[:-1] * moves[1:]).sum(axis=1) < math.cos(SHARP)]

    def pose(self, s: float) -> Array:
        k = min(max(int(np.searchsorted(self._ends, s, 'right')) - 1, 0), len(self._lines) - 1)
        return self._lines[k].pose(min(s - float(self._ends[k]), self._lines[k].length))


class Spline(Waypoints):
    """Smooth curve through poses: a cubic spline of the position, and a rotation spline."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        lines = Waypoints(poses)
        knots, T = lines.knots, np.array([lines.pose(s) for s in lines.knots])
        position = scipy.interpolate.CubicSpline(knots, T[:, :3, 3])
        rotation = scipy.spatial.transform.RotationSpline(
            knots, scipy.spatial.transform.Rotation.from_matrix(T[:, :3, :3]))
        # short lines along the splines
        fine = np.append(np.linspace(knots[:-1], knots[1:], N_FINE, endpoint=False).T, knots[-1])
        super().__init__([_pose(*each) for each in zip(
            rotation(fine).as_matrix(), position(fine), strict=True)])
        self.knots, self.stops = self.knots[::N_FINE], np.zeros(0)


def rotation_between(start: Array, end: Array) -> Array:
    """Return the rotation vector (3,) [rad] from one pose to another, in the axes of both."""
    rotation: Array = pin.log3(end[:3, :3] @ start[:3, :3].T)
    if np.linalg.norm(rotation) > math.pi - 1e-6:
        raise InvalidTargetError('the orientations are half a turn apart, so the rotation axis is '
                                 'ambiguous; add a pose between')
    return rotation


def _pose(R: Array, p: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T
