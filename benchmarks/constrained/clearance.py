"""Bounds on distances: of all pairs, or of one pair."""

from dataclasses import dataclass

from constrained.geometry import outside
from constrained.obstacles import World
from constrained.term import Term
from ros2_ik.core import Constraint, MinimumDistance, PairDistance

MARGIN = 0.1         # influence minus lower bound, as in InverseKinematics [m]
INFLUENCE = 100.0    # influence for an upper bound, as in InverseKinematics [m]
DRAKE_LOWER_INFLUENCE = 0.01    # for a lower bound: the best setting found for Drake [m]
DRAKE_UPPER_INFLUENCE = 0.3     # for an upper bound: the best setting found for Drake [m]


@dataclass
class DistanceLowerBound(Term):
    """A lower bound on the distances of all pairs [m]."""

    world: World
    lower: float

    def ours(self, robot):
        return Constraint(MinimumDistance(self.world.checker, self.lower + MARGIN), self.lower)

    def drake(self, program):
        program.ik.AddMinimumDistanceLowerBoundConstraint(self.lower, DRAKE_LOWER_INFLUENCE)

    def violation(self, at):
        return max(0.0, self.lower - self.world.clearance(at.joints))


@dataclass
class DistanceUpperBound(Term):
    """An upper bound on the smallest distance of all pairs [m]."""

    world: World
    upper: float

    def ours(self, robot):
        return Constraint(MinimumDistance(self.world.checker, INFLUENCE, rows=1), upper=self.upper)

    def drake(self, program):
        program.ik.AddMinimumDistanceUpperBoundConstraint(self.upper, DRAKE_UPPER_INFLUENCE)

    def violation(self, at):
        return max(0.0, self.world.clearance(at.joints) - self.upper)


@dataclass
class PairDistanceBounds(Term):
    """Bounds on the distance of two links or objects, each of one shape [m]."""

    world: World
    first: str
    second: str
    lower: float
    upper: float

    def ours(self, robot):
        return Constraint(PairDistance(self.world.checker, self.first, self.second), self.lower,
                          self.upper)

    def drake(self, program):
        program.ik.AddDistanceConstraint(program.pair(self.first, self.second), self.lower,
                                         self.upper)

    def violation(self, at):
        return outside(self.world.distance(at.joints, self.first, self.second), self.lower,
                       self.upper)
