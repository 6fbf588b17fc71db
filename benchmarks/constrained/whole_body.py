"""Terms of many joints: balance, couplings, posture."""

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from constrained.geometry import outside
from constrained.term import Term
from ros2_ik.core import CenterOfMass, Constraint, JointCoupling, JointPositions, LeastSquares


@dataclass
class Balanced(Term):
    """The centre of mass of all links, in a frame's coordinates, in a box [m]."""

    relative_to: str
    lower: np.ndarray
    upper: np.ndarray

    def ours(self, robot):
        return Constraint(CenterOfMass(links_with_mass(robot), self.relative_to), self.lower,
                          self.upper)

    def drake(self, program):
        program.add_center_of_mass(self.relative_to, self.lower, self.upper)

    def violation(self, at):
        return outside(at.center_of_mass(self.relative_to), self.lower, self.upper)


@dataclass
class Coupled(Term):
    """A linear relation of joint values: ratios . q = offset."""

    names: tuple[str, ...]
    ratios: np.ndarray
    offset: float

    def ours(self, robot):
        return Constraint(JointCoupling(self.names, self.ratios, self.offset), 0, 0)

    def drake(self, program):
        program.ik.get_mutable_prog().AddLinearEqualityConstraint(
            self.ratios[None], np.array([self.offset]), program.joints(self.names))

    def violation(self, at):
        q = np.array([at.joints[name] for name in self.names])
        return abs(float(self.ratios @ q - self.offset))


@dataclass
class Posture(Term):
    """A cost: half the squared distance of joints from a posture [rad^2]."""

    posture: dict[str, float]
    is_cost = True

    def ours(self, robot):
        return LeastSquares(JointPositions(list(self.posture), self.posture, wrap=False))

    def drake(self, program):
        program.ik.get_mutable_prog().AddQuadraticErrorCost(
            0.5 * np.eye(len(self.posture)), np.array(list(self.posture.values())),
            program.joints(list(self.posture)))

    def cost(self, at):
        return 0.5 * sum((at.joints[name] - value)**2 for name, value in self.posture.items())


def links_with_mass(robot):
    """Return the links with a mass, including fixed links, which Drake counts."""
    masses = ((link.get('name'), link.find('inertial/mass'))
              for link in ElementTree.fromstring(robot.urdf).findall('link'))
    return [name for name, mass in masses if mass is not None and float(mass.get('value')) > 0]
