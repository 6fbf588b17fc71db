"""Bounds on points: in a box, near a line, at a distance, in a polyhedron."""

from dataclasses import dataclass

import numpy as np

from constrained.geometry import frame_along, INF, ORIGIN, outside
from constrained.term import Term
from ros2_ik.core import (
    Constraint,
    FramePosition,
    PointToLineDistance,
    PointToPointDistance,
    Polyhedron,
)


@dataclass
class InBox(Term):
    """A point of a frame in a box."""

    frame: str
    lower: np.ndarray
    upper: np.ndarray
    point: np.ndarray = ORIGIN
    relative_to: str | None = None

    def ours(self, robot):
        return Constraint(FramePosition(self.frame, self.point, self.relative_to),
                          self.lower, self.upper)

    def drake(self, program):
        program.ik.AddPositionConstraint(program.frame(self.frame), self.point,
                                         program.frame(self.relative_to), self.lower, self.upper)

    def violation(self, at):
        return outside(at.point(self.frame, self.point, self.relative_to), self.lower, self.upper)


@dataclass
class InPolyhedron(Term):
    """Points of a frame in a polyhedron A [p1; ...; pn] <= b."""

    frame: str
    points: np.ndarray    # (n, 3)
    A: np.ndarray         # (m, 3 n)
    b: np.ndarray
    relative_to: str | None = None

    def ours(self, robot):
        return Constraint(Polyhedron(self.frame, self.points, self.A, self.relative_to),
                          upper=self.b)

    def drake(self, program):
        program.ik.AddPolyhedronConstraint(program.frame(self.relative_to),
                                           program.frame(self.frame), self.points.T, self.A,
                                           self.b)

    def violation(self, at):
        points = [at.point(self.frame, point, self.relative_to) for point in self.points]
        return outside(self.A @ np.concatenate(points), -INF, self.b)


@dataclass
class PointDistanceBounds(Term):
    """Bounds on the distance from a point of a frame to a point of another frame [m]."""

    frame: str
    point: np.ndarray
    other: np.ndarray
    lower: float
    upper: float
    relative_to: str | None = None

    def ours(self, robot):
        return Constraint(PointToPointDistance(self.frame, self.point, self.other,
                                               self.relative_to), self.lower, self.upper)

    def drake(self, program):
        program.ik.AddPointToPointDistanceConstraint(
            program.frame(self.frame), self.point, program.frame(self.relative_to), self.other,
            self.lower, self.upper)

    def violation(self, at):
        offset = at.point(self.frame, self.point, self.relative_to) - self.other
        return outside(np.linalg.norm(offset), self.lower, self.upper)


@dataclass
class NearLine(Term):
    """An upper bound on the distance from a point of a frame to a line [m]."""

    frame: str
    point: np.ndarray
    line_point: np.ndarray
    direction: np.ndarray
    upper: float = 0.0
    relative_to: str | None = None

    def ours(self, robot):
        return Constraint(PointToLineDistance(self.frame, self.point, self.line_point,
                                              self.direction, self.relative_to), 0, self.upper)

    def drake(self, program):
        if self.upper > 0:
            program.ik.AddPointToLineDistanceConstraint(
                program.frame(self.frame), self.point, program.frame(self.relative_to),
                self.line_point, self.direction, 0, self.upper)
        else:
            program.add_position(self.frame, self.point, self.relative_to,
                                 frame_along(self.direction, self.line_point),
                                 (0, 0, -INF), (0, 0, INF))

    def violation(self, at):
        offset = at.point(self.frame, self.point, self.relative_to) - self.line_point
        distance = np.linalg.norm(np.cross(self.direction, offset))
        return max(0.0, distance / np.linalg.norm(self.direction) - self.upper)
