"""Orientations, angles and directions of view."""

from dataclasses import dataclass

from judge import angle
import numpy as np
from pydrake.math import RotationMatrix

from constrained.geometry import frame_along, INF, ORIGIN, outside, rotation_angle, X, Y
from constrained.term import Term
from ros2_ik.core import (
    AngleBetweenVectors,
    Constraint,
    FrameOrientation,
    GazeAngle,
    LeastSquares,
    PoseTarget,
)

CLOSEST = 0.01    # smallest distance of a gaze target for Drake [m]


@dataclass
class OrientationTolerance(Term):
    """A frame's orientation within an angle of a reference [rad]."""

    frame: str
    R: np.ndarray
    upper: float = 0.0
    relative_to: str | None = None

    def ours(self, robot):
        return Constraint(FrameOrientation(self.frame, self.R, self.relative_to, form='angle'), 0,
                          self.upper)

    def drake(self, program):
        frame, relative = program.frame(self.frame), program.frame(self.relative_to)
        # with a feasibility tolerance of 1e-9, SNOPT solves a bound of 0 better in this form than
        # as right angles between axes
        program.ik.AddOrientationConstraint(relative, RotationMatrix(self.R), frame,
                                            RotationMatrix(), self.upper)

    def violation(self, at):
        R = at.T(self.frame, self.relative_to)[:3, :3]
        return max(0.0, rotation_angle(self.R.T @ R) - self.upper)


@dataclass
class Pose(Term):
    """A frame at a pose."""

    frame: str
    T: np.ndarray
    relative_to: str | None = None

    def ours(self, robot):
        return PoseTarget(self.frame, self.T, self.relative_to)

    def drake(self, program):
        # the origin, a point on x and a point on y: six equalities, each with a gradient at the
        # solution, unlike "theta_bound = 0"; x, y > 0.05 excludes half a turn
        for point, lower, upper in ((ORIGIN, (0, 0, 0), (0, 0, 0)),
                                    (0.3 * X, (0.05, 0, 0), (INF, 0, 0)),
                                    (0.3 * Y, (-INF, 0.05, 0), (INF, INF, 0))):
            program.add_position(self.frame, point, self.relative_to, self.T, lower, upper)

    def violation(self, at):
        T = np.linalg.inv(self.T) @ at.T(self.frame, self.relative_to)
        return max(np.linalg.norm(T[:3, 3]), rotation_angle(T[:3, :3]))


@dataclass
class Angle(Term):
    """Bounds on the angle between a vector of a frame and a vector of another frame [rad]."""

    frame: str
    vector: np.ndarray
    other: np.ndarray
    lower: float
    upper: float
    relative_to: str | None = None

    def ours(self, robot):
        return Constraint(AngleBetweenVectors(self.frame, self.vector, self.other,
                                              self.relative_to), self.lower, self.upper)

    def drake(self, program):
        program.ik.AddAngleBetweenVectorsConstraint(
            program.frame(self.relative_to), self.other, program.frame(self.frame), self.vector,
            self.lower, self.upper)

    def violation(self, at):
        vector = at.T(self.frame, self.relative_to)[:3, :3] @ self.vector
        return outside(angle(vector, self.other), self.lower, self.upper)


@dataclass
class GazeTolerance(Term):
    """A camera's axis within an angle of the ray to a target [rad]."""

    frame: str
    axis: np.ndarray
    target: np.ndarray
    upper: float = 0.0
    target_frame: str | None = None

    def ours(self, robot):
        return Constraint(GazeAngle(self.frame, ORIGIN, self.axis, self.target,
                                    self.target_frame), 0, self.upper)

    def drake(self, program):
        frame, target_frame = program.frame(self.frame), program.frame(self.target_frame)
        if self.upper == 0:
            # a half angle of 0 has no gradient at the solution; the distances of the target
            # from the axis have one
            program.add_position(self.target_frame, self.target, self.frame,
                                 frame_along(self.axis, ORIGIN), (0, 0, CLOSEST), (0, 0, INF))
            return
        program.ik.AddGazeTargetConstraint(frame, ORIGIN, self.axis, target_frame, self.target,
                                           self.upper)
        # Drake's squared form also holds if the target is at the camera
        program.ik.AddPointToPointDistanceConstraint(frame, ORIGIN, target_frame, self.target,
                                                     CLOSEST, INF)

    def violation(self, at):
        ray = at.point(self.target_frame, self.target, self.frame)
        return max(0.0, angle(self.axis, ray) - self.upper)


@dataclass
class OrientationCost(Term):
    """A cost: 1 - cos(angle of the rotation from a reference to a frame)."""

    frame: str
    R: np.ndarray
    is_cost = True

    def ours(self, robot):
        return LeastSquares(FrameOrientation(self.frame, self.R, form='chord'))

    def drake(self, program):
        program.ik.AddOrientationCost(program.frame(None), RotationMatrix(self.R),
                                      program.frame(self.frame), RotationMatrix(), 1.0)

    def cost(self, at):
        return 1.0 - float(np.cos(rotation_angle(self.R.T @ at.T(self.frame)[:3, :3])))


@dataclass
class DirectionCost(Term):
    """A cost: 1 - cos(angle between an axis of a frame and a direction)."""

    frame: str
    axis: np.ndarray
    direction: np.ndarray
    is_cost = True

    def ours(self, robot):
        return LeastSquares(AngleBetweenVectors(self.frame, self.axis, self.direction,
                                                form='chord'))

    def drake(self, program):
        program.ik.AddAngleBetweenVectorsCost(program.frame(self.frame), self.axis,
                                              program.frame(None), self.direction, 1.0)

    def cost(self, at):
        return 1.0 - float(np.cos(angle(at.T(self.frame)[:3, :3] @ self.axis, self.direction)))
