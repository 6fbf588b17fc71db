"""Tool paths: poses as a function of the path length."""

from collections.abc import Sequence
from itertools import pairwise
import math

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core.arrays import Array, ArrayLike, Pose
from ros2_ik.core.checks import as_list, direction, finite, vector
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.poses import as_transform

# path length of a rotation in place [m/rad]
ROTATION_LENGTH = 0.2
# shortest valid length of a segment of a path [m]
MIN_LENGTH = 1e-9
# start, through and end of an arc count as collinear if height / base of their triangle is at most
# this ratio; the base is the longer of the two sides that meet at the start
COLLINEAR_RATIO = 1e-6
# change of direction at a corner above which motions stop at the corner [rad]
SHARP_ANGLE = 0.3
# lines per spline segment; error < 1e-5 m for a 0.25 m segment of 0.1 m curvature radius
N_LINES = 100
ZERO = np.zeros(3)


class ToolPath:
    """
    Base class of tool paths: poses (4, 4) over a parameter s from 0 to `length` [m].

    A path has n segments of constant velocity each. In segment i, the tool starts at the pose
    starts[i] (4, 4), moves by travel[i] (3,) [m] and rotates by rotation[i] (3,) [rad]. On an arc
    or a screw, the tool's position also turns by `turn` (3,) [rad] about an axis through `centre`
    (3,). All poses and vectors are expressed in the reference frame of the target.

    The length of a segment is the larger of two lengths: the distance that the tool moves, and
    0.2 m for each radian that the tool rotates. `knots` (k,) are the parameters of the given
    poses, `stops` (l,) those of sharp corners, where motions stop. Raises InvalidTargetError for a
    segment of length zero.
    """

    def __init__(self, starts: Array, travel: Array, rotation: Array, turn: Array = ZERO,
                 centre: Array = ZERO) -> None:
        self._starts, self._travel, self._rotation = starts, travel, rotation
        self._turn, self._centre = turn, centre
        around = np.cross(turn, starts[0, :3, 3] - centre)
        lengths = np.maximum(np.linalg.norm(np.hypot(around, travel), axis=1),
                             ROTATION_LENGTH * np.linalg.norm(rotation, axis=1))
        for i in np.flatnonzero(lengths < MIN_LENGTH):
            raise InvalidTargetError(f'segment {i + 1} of the path has length zero: start and '
                                     'end are equal')
        self.knots = self._ends = np.append(0.0, np.cumsum(lengths))
        self.length, self.stops = float(self.knots[-1]), np.zeros(0)

    def pose(self, s: float) -> Array:
        """Return the pose (4, 4) of the tool at a parameter s in [0, length]."""
        k = min(max(int(np.searchsorted(self._ends, s, 'right')), 1), len(self._ends) - 1) - 1
        fraction = (s - self._ends[k]) / (self._ends[k + 1] - self._ends[k])
        T: Array = self._starts[k].copy()
        T[:3, 3] = (self._centre + pin.exp3(fraction * self._turn) @ (T[:3, 3] - self._centre)
                    + fraction * self._travel[k])
        T[:3, :3] = pin.exp3(fraction * self._rotation[k]) @ T[:3, :3]
        return T


class Waypoints(ToolPath):
    """At least two poses (4, 4), connected by lines, each with a rotation of less than pi."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        given = as_list(poses)
        if given is None or len(given) < 2:
            found = repr(poses) if given is None else f'{len(given)} poses'
            raise InvalidTargetError('a path is a Line, Arc, Screw, Spline or Waypoints, or a '
                                     f'list of at least two poses, not {found}')
        T = np.array([as_transform(pose, f'pose {i}') for i, pose in enumerate(given)])
        rotation = np.array([rotation_between(*pair, f'from pose {i} to pose {i + 1}: ')
                             for i, pair in enumerate(pairwise(T))])
        travel = np.diff(T[:, :3, 3], axis=0)
        super().__init__(T[:-1], travel, rotation)
        moves = np.hstack([travel, ROTATION_LENGTH * rotation])
        moves /= np.linalg.norm(moves, axis=1, keepdims=True)
        self.stops = self.knots[1:-1][(moves[:-1] * moves[1:]).sum(axis=1) < math.cos(SHARP_ANGLE)]


class Line(Waypoints):
    """Straight line between two poses, with a rotation of less than pi about a fixed axis."""

    def __init__(self, start: Pose, end: Pose) -> None:
        super().__init__([as_transform(start, 'start'), as_transform(end, 'end')])


class Arc(ToolPath):
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
        # origin 0 at the start; the circle passes through 0, a and b. x: vector from its centre to
        # 0 (circumcentre formula); y: perpendicular to x in the circle's plane, of equal length
        x = -np.cross((a @ a) * b - (b @ b) * a, normal) / (2 * normal @ normal)
        axis = normal / np.linalg.norm(normal)
        y = np.cross(axis, x)
        angle = math.atan2((b + x) @ y, (b + x) @ x) % math.tau
        super().__init__(first[None], np.zeros((1, 3)), rotation_between(first, last)[None],
                         angle * axis, p - x)


class Screw(ToolPath):
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
        super().__init__(as_transform(start, 'start')[None],
                         finite(travel, 'travel', fault) * along[None], turn[None], turn,
                         vector(point, 'point', 3, fault))


class Spline(Waypoints):
    """Smooth curve through poses: a cubic spline of the position, and a rotation spline."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        super().__init__(poses)
        knots, T = self.knots, np.array([self.pose(s) for s in self.knots])
        position = scipy.interpolate.CubicSpline(knots, T[:, :3, 3])
        rotation = scipy.spatial.transform.RotationSpline(
            knots, scipy.spatial.transform.Rotation.from_matrix(T[:, :3, :3]))
        # short lines along the splines
        fine = np.append(np.linspace(knots[:-1], knots[1:], N_LINES, endpoint=False).T, knots[-1])
        T = np.tile(np.eye(4), (len(fine), 1, 1))
        T[:, :3, :3], T[:, :3, 3] = rotation(fine).as_matrix(), position(fine)
        super().__init__([*T])
        self.knots, self.stops = self.knots[::N_LINES], np.zeros(0)


def rotation_between(start: Array, end: Array, where: str = '') -> Array:
    """Return the rotation vector (3,) [rad] from one pose to another, in their common frame."""
    rotation: Array = pin.log3(end[:3, :3] @ start[:3, :3].T)
    if np.linalg.norm(rotation) > math.pi - 1e-6:
        raise InvalidTargetError(f'{where}the orientations are half a turn apart, so the rotation '
                                 'axis is ambiguous; add a pose between')
    return rotation
