"""Functions of the positions of points of a frame."""

from dataclasses import dataclass
from functools import cached_property
import math

import numpy as np
import pinocchio as pin

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.angles import orthonormal_complement
from ros2_ik.core.functions.fields import Axes, Axis, Frame, Matrix, Placement, Point, Points
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.functions.relative_function import Parameters, RelativeFunction
from ros2_ik.core.kernels.source import formula


@register_function('frame_position')
@dataclass(frozen=True, eq=False)
class FramePosition(RelativeFunction):
    """
    Coordinates of `point` of `frame` in a frame A, one row for each of `axes`.

        f = R_A^T (p_point - p_A)     x y z [m]

    A is fixed to `relative_to` (default: the root frame) at the pose `T_relative_A` (default: the
    identity). Drake calls these arguments frameAbar and X_AbarA. Smooth everywhere.
    """

    frame: Frame
    point: Point = (0, 0, 0)
    relative_to: Frame | None = None
    T_relative_A: Placement = None
    axes: Axes = 'xyz'

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'{axis} [m]' for axis in self.axes)

    def numbers(self) -> Parameters:
        T = np.eye(4) if self.T_relative_A is None else self.T_relative_A.homogeneous
        axes = T[:3, :3].T
        if self.axes != 'xyz':
            axes = axes[['xyz'.index(axis) for axis in self.axes]]
        return len(axes), 1, self.point, axes @ T[:3, 3], axes

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # f_i = sum_j a_ij . p_j - b_i, for m rows i and n points p_j; a and p in `relative_to`;
        # parameters: m, n, the points in `frame` (3 n), b (m), a (3 m n)
        count, points = int(parameters[0]), int(parameters[1])
        for i in range(count):
            total, forces, moments = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            # the wrench of a row is the sum of its points' forces
            for j in range(points):
                part = v.vector(parameters, 2 + count + 3 * (points + i * points + j))
                p = v.point(B, v.vector(parameters, 2 + 3 * j))
                total += v.dot(part, v.to_local(A, p))
                along = v.rotate(A, part)
                forces, moments = v.add(forces, along), v.add(moments, v.cross(p, along))
            f[i] = total - parameters[2 + 3 * points + i]
            v.wrench(W, i, forces, moments)


COINCIDENT = 1e-12   # distance below which rounding determines the direction of an offset [m]


@register_function('point_to_point_distance')
@dataclass(frozen=True, eq=False)
class PointToPointDistance(RelativeFunction):
    """
    Distance of `point` of `frame` from `other_point` of `relative_to`, (1,).

        f = |p_point - p_other|     [m]

    Not differentiable where the points coincide; the gradient there points along the x axis of
    `relative_to`. If the distance must be zero, solvers use the vector p_point - p_other instead.
    Raises InvalidConstraintError for points that are not three finite numbers.
    """

    frame: Frame
    point: Point
    other_point: Point
    relative_to: Frame | None = None
    labels = ('distance [m]',)
    range = (0.0, math.inf)

    def numbers(self) -> Parameters:
        return self.point, self.other_point, 3, np.eye(3)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # parameters: point (3), other point or line point (3), number of axes, axes (3 each)
        p, away = v.point(B, v.vector(parameters, 0)), (0.0, 0.0, 0.0)
        offset = v.sub(v.to_local(A, p), v.vector(parameters, 3))
        for i in range(int(parameters[6])):
            axis = v.vector(parameters, 7 + 3 * i)
            away = v.add(away, v.scale(v.dot(axis, offset), axis))
        # the gradient is the unit vector along `away`; if `away` is zero, the first axis
        f[0] = distance = v.norm(away)
        v.force(W, 0, p, v.rotate(A, v.scale(1.0 / distance, away) if distance >= COINCIDENT
                                  else v.vector(parameters, 7)))

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        if upper[0] > 0:
            return None
        return FramePosition(self.frame, self.point, self.relative_to,
                             pin.SE3(np.eye(3), self.other_point))


@register_function('point_to_line_distance')
@dataclass(frozen=True, eq=False)
class PointToLineDistance(RelativeFunction):
    """
    Distance of `point` of `frame` from a line fixed to `relative_to`, (1,).

    The infinite line passes through `line_point` (p_line); n is the unit vector along it:

        f = |(I - n n^T) (p_point - p_line)|     [m]

    Not differentiable on the line; the gradient there is a fixed vector perpendicular to the line.
    If the distance must be zero, solvers use the two coordinates perpendicular to the line
    instead. Raises InvalidConstraintError for points that are not three finite numbers and for a
    direction of length zero.
    """

    frame: Frame
    point: Point
    line_point: Point
    line_direction: Axis
    relative_to: Frame | None = None
    labels = ('distance [m]',)
    range = (0.0, math.inf)
    rows = PointToPointDistance.rows

    def numbers(self) -> Parameters:
        return self.point, self.line_point, 2, orthonormal_complement(self.line_direction)

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        if upper[0] > 0:
            return None
        # coordinates x and y in a frame whose z axis is the line
        axes = np.array([*orthonormal_complement(self.line_direction), self.line_direction]).T
        return FramePosition(self.frame, self.point, self.relative_to,
                             pin.SE3(axes, self.line_point), 'xy')


@register_function('point_to_plane')
@dataclass(frozen=True, eq=False)
class PointToPlane(RelativeFunction):
    """
    Height of `point` of `frame` above a plane fixed to `relative_to`, (1,).

    The plane passes through `plane_point` (p_plane); n is the unit vector along `normal`:

        f = n . (p_point - p_plane)     [m], positive on the side that n points to

    Smooth everywhere. Raises InvalidConstraintError for points that are not three finite
    numbers and for a normal of length zero.
    """

    frame: Frame
    point: Point
    plane_point: Point
    normal: Axis
    relative_to: Frame | None = None
    labels = ('height [m]',)
    rows = FramePosition.rows

    def numbers(self) -> Parameters:
        return 1, 1, self.point, np.dot(self.normal, self.plane_point), self.normal


@register_function('polyhedron')
@dataclass(frozen=True, eq=False)
class Polyhedron(RelativeFunction):
    """
    Product of A (m, 3n) and the stacked positions of `points` (n, 3) of `frame`, (m,).

        f = A [p_1; ...; p_n]     [m], each p in `relative_to`

    An upper bound b keeps the stacked positions p in the polyhedron A p <= b. Smooth everywhere.
    Raises InvalidConstraintError for sizes that do not match and for numbers that are not finite.
    """

    frame: Frame
    points: Points
    A: Matrix
    relative_to: Frame | None = None
    rows = FramePosition.rows

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = 3 * len(self.points)
        if np.shape(self.A)[1] != columns:
            raise InvalidConstraintError(f'A must be rows of {columns} numbers, 3 for each of '
                                         f'{len(self.points)} points, not of '
                                         f'{np.shape(self.A)[1]}')

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(f'row {row} [m]' for row in range(len(self.A)))

    def numbers(self) -> Parameters:
        return len(self.A), len(self.points), self.points, np.zeros(len(self.A)), self.A
