"""What may be asked of a robot, said to ros2_ik, said to Drake, and checked from outside."""

from abc import ABC, abstractmethod
from typing import Any

from constrained.judge import Judge
from ros2_ik.core import Constraint, Cost, PoseTarget, Robot


class Term(ABC):
    """
    One demand, or one cost, of a problem.

    Frames are named; None is the root frame. Costs have `cost(at)` instead of `violation(at)`.
    """

    is_cost = False

    @abstractmethod
    def ours(self, robot: Robot) -> Constraint | PoseTarget | Cost:
        """Return the part of an IKProblem."""

    @abstractmethod
    def drake(self, program: Any) -> None:
        """Add the same to a program of `drake_ik`, in the form that SNOPT does best with."""

    def violation(self, at: Judge) -> float:
        """Measure how far it is from being met [m, rad] in a configuration."""
        raise NotImplementedError

    def cost(self, at: Judge) -> float:
        """Measure the cost in a configuration."""
        raise NotImplementedError
