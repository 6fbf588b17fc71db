"""Terms: constraints and costs for ros2_ik, for Drake and for the judge."""

from abc import ABC, abstractmethod
from typing import Any

from constrained.judge import Judge
from ros2_ik.core import Constraint, Cost, PoseTarget, Robot


class Term(ABC):
    """
    One constraint or one cost of a problem.

    Frames are names; None is the root frame. Costs have `cost(at)` instead of `violation(at)`.
    """

    is_cost = False

    @abstractmethod
    def ours(self, robot: Robot) -> Constraint | PoseTarget | Cost:
        """Return the part of an IKProblem."""

    @abstractmethod
    def drake(self, program: Any) -> None:
        """Add the term to a program of `drake_ik`, in the form that SNOPT solves best."""

    def violation(self, at: Judge) -> float:
        """Return the violation of the constraint [m, rad] in a configuration."""
        raise NotImplementedError

    def cost(self, at: Judge) -> float:
        """Return the cost in a configuration."""
        raise NotImplementedError
