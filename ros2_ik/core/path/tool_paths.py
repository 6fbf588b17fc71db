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
# samples between two poses of a spline, to measure its length
N_FINE = 256


class ToolPath(ABC):
    """
    Base class of tool paths: poses (4, 4) over a parameter s from 0 to `length` [m].

    `length` is the larger of two lengths: the distance that the tool moves, and 0.2 m for each
    radian that the tool rotates. `knots` (k,) are parameters that all samplings contain. Poses are
    relative to the frame of the target. Raises InvalidTargetError for a path of length zero.
    """

    def __init__(self, distance: float, angle: float, knots: Array | None = None) -> None:
        self.length = max(float(distance), ROTATION_LENGTH * float(angle))
        self.knots = np.array([0.0, self.length]) if knots is None else knots
        if self.length < MIN_LENGTH:
            raise InvalidTargetError('the path has length zero: start and end are equal')

    @abstractmethod
    def pose(self, s: float) -> Array:
        """Return the pose (4, 4) of the tool at a parameter s in [0, length]."""

    def samples(self, spacing: float) -> Array:
        """Return ascending parameters (n,) at most `spacing` [m] apart, knots included."""
        knots = self.knots
        parts = [np.linspace(low, high, max(math.ceil((high - low) / spacing - 1e-6), 1),
                             endpoint=False) for low, high in zip(knots, knots[1:], strict=False)]
        return np.concatenate([*parts, knots[-1:]])


class Line(ToolPath):
    """Straight line between two poses, with a rotation by less than pi about a fixed axis."""

    def __init__(self, start: Pose, end: Pose) -> None:
        self.start, self.end = as_transform(start, 'start'), as_transform(end, 'end')
        self._rotation = rotation_between(self.start, self.end)
        super().__init__(math.dist(self.start[:3, 3], self.end[:3, 3]),
                         float(np.linalg.norm(self._rotation)))

    def pose(self, s: float) -> Array:
        part = s / self.length
        return _pose(self.start[:3, :3] @ pin.exp3(part * self._rotation),
                     (1 - part) * self.start[:3, 3] + part * self.end[:3, 3])


class Arc(ToolPath):
    """
    Circular arc from the pose `start` through the point `through` (3,) [m] to the pose `end`.

    The tool rotates from the orientation of `start` to that of `end` about one fixed axis.
    """

    def __init__(self, start: Pose, through: 'ArrayLike', end: Pose) -> None:
        self.start, self.end = as_transform(start, 'start'), as_transform(end, 'end')
        self._rotation, p = rotation_between(self.start, self.end), self.start[:3, 3]
        a, b = vector(through, 'through', 3, InvalidTargetError) - p, self.end[:3, 3] - p
        normal = np.cross(a, b)
        if np.linalg.norm(normal) <= COLLINEAR_RATIO * max(a @ a, b @ b):
            raise InvalidTargetError('start, through and end of the arc are on a line; valid: '
                                     'three points of a circle (for a full circle use Screw)')
        # vector from the centre of the circle through 0, a and b to the start (circumcentre
        # formula), and the axis in the plane of the circle perpendicular to this vector
        x = -np.cross((a @ a) * b - (b @ b) * a, normal) / (2 * normal @ normal)
        y = np.cross(normal / np.linalg.norm(normal), x)
        self._centre, self._axes = p - x, np.array([x, y])
        self._angle = math.atan2((b + x) @ y, (b + x) @ x) % math.tau
        super().__init__(float(np.linalg.norm(x)) * self._angle,
                         float(np.linalg.norm(self._rotation)))

    def pose(self, s: float) -> Array:
        part, angle = s / self.length, s / self.length * self._angle
        return _pose(self.start[:3, :3] @ pin.exp3(part * self._rotation), self._centre
                     + np.array([math.cos(angle), math.sin(angle)]) @ self._axes)


class Screw(ToolPath):
    """
    Rotation of the pose `start` by `angle` [rad] about an axis, with a translation along the axis.

    `point` (3,) [m] is a point on the axis, `axis` (3,) its direction, both relative to the same
    frame as `start`. `travel` [m] is the translation. The angle may exceed a full turn.
    """

    def __init__(self, start: Pose, point: 'ArrayLike', axis: 'ArrayLike', angle: float,
                 travel: float = 0.0) -> None:
        fault = InvalidTargetError
        self.start, self._point = as_transform(start, 'start'), vector(point, 'point', 3, fault)
        self._axis, self._angle = direction(axis, 'axis', fault), finite(angle, 'angle', fault)
        self._travel, self._arm = finite(travel, 'travel', fault), self.start[:3, 3] - self._point
        radius = float(np.linalg.norm(np.cross(self._axis, self._arm)))
        super().__init__(math.hypot(radius * self._angle, self._travel), abs(self._angle))

    def pose(self, s: float) -> Array:
        part = s / self.length
        R = pin.exp3(part * self._angle * self._axis)
        return _pose(R @ self.start[:3, :3],
                     self._point + R @ self._arm + part * self._travel * self._axis)


class Waypoints(ToolPath):
    """At least two poses (4, 4), connected by lines; all samplings contain the poses."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        given = listed(poses)
        if given is None or len(given) < 2:
            raise InvalidTargetError('a path is a Line, Arc, Screw, Spline or Waypoints, or a '
                                     f'list of at least two poses, not {poses!r}')
        self.lines = [_numbered_line(i, *pair) for i, pair in enumerate(zip(
            given, given[1:], strict=False))]
        knots = np.cumsum([0.0, *(line.length for line in self.lines)])
        super().__init__(knots[-1], 0.0, knots)

    def pose(self, s: float) -> Array:
        k = min(max(int(np.searchsorted(self.knots, s, 'right')) - 1, 0), len(self.lines) - 1)
        return self.lines[k].pose(min(s - float(self.knots[k]), self.lines[k].length))


class Spline(ToolPath):
    """Smooth curve through poses: a cubic spline of the position, and a rotation spline."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        lines = Waypoints(poses)
        corners = np.array([lines.lines[0].start, *(line.end for line in lines.lines)])
        transform = scipy.spatial.transform
        self._position = scipy.interpolate.CubicSpline(lines.knots, corners[:, :3, 3])
        self._rotation = transform.RotationSpline(
            lines.knots, transform.Rotation.from_matrix(corners[:, :3, :3]))
        # tabulate the length over the spline parameter, to find the spline parameter of a length
        n = len(corners) - 1
        self._fine = np.interp(np.arange(n * N_FINE + 1) / N_FINE, np.arange(n + 1), lines.knots)
        turned = self._rotation(self._fine)
        steps = np.maximum(np.linalg.norm(np.diff(self._position(self._fine), axis=0), axis=1),
                           ROTATION_LENGTH * (turned[:-1].inv() * turned[1:]).magnitude())
        self._lengths = np.cumsum([0.0, *steps])
        super().__init__(self._lengths[-1], 0.0, self._lengths[::N_FINE])

    def pose(self, s: float) -> Array:
        time = float(np.interp(s, self._lengths, self._fine))
        return _pose(self._rotation(time).as_matrix(), self._position(time))


def rotation_between(start: Array, end: Array) -> Array:
    """Return the rotation vector (3,) [rad] between two poses, in the axes of the first pose."""
    rotation: Array = pin.log3(start[:3, :3].T @ end[:3, :3])
    if np.linalg.norm(rotation) > math.pi - 1e-6:
        raise InvalidTargetError('the orientations are half a turn apart, so the rotation axis is '
                                 'ambiguous; add a pose between')
    return rotation


def _numbered_line(i: int, start: Pose, end: Pose) -> Line:
    try:
        return Line(start, end)
    except InvalidTargetError as error:
        raise InvalidTargetError(f'from pose {i} to pose {i + 1}: {error}') from None


def _pose(R: Array, p: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T
