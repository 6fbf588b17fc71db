"""Bounds on distances: of all pairs, or of one pair."""

from dataclasses import dataclass

from constrained.geometry import outside
from constrained.obstacles import World
from constrained.term import Term
from ros2_ik.core import Constraint, MinimumDistance, PairDistance

# influence: a lower bound plus AHEAD, or FAR for an upper bound (as in InverseKinematics) [m]
AHEAD, FAR = 0.1, 100.0
# influence of a lower and of an upper bound: the best settings found for Drake [m]
LOWER_INFLUENCE, UPPER_INFLUENCE = 0.01, 0.3


@dataclass
class Clear(Term):
    """A lower bound on the distances of all pairs [m]."""

    world: World
    lower: float

    def ours(self, robot):
        return Constraint(MinimumDistance(self.world.checker, self.lower + AHEAD), self.lower)

    def drake(self, program):
        program.ik.AddMinimumDistanceLowerBoundConstraint(self.lower, LOWER_INFLUENCE)

    def violation(self, at):
        return max(0.0, self.lower - self.world.clearance(at.joints))


@dataclass
class Near(Term):
    """An upper bound on the smallest distance of all pairs [m]."""

    world: World
    upper: float

    def ours(self, robot):
        return Constraint(MinimumDistance(self.world.checker, FAR, rows=1), upper=self.upper)

    def drake(self, program):
        program.ik.AddMinimumDistanceUpperBoundConstraint(self.upper, UPPER_INFLUENCE)

    def violation(self, at):
        return max(0.0, self.world.clearance(at.joints) - self.upper)


@dataclass
class PairApart(Term):
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
