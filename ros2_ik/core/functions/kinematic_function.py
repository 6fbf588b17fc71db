"""A quantity that a configuration has."""

from abc import ABC, abstractmethod

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot import Configuration


class KinematicFunction(ABC):
    """
    f: configuration -> R^m, with its Jacobian in the tangent space.

    It knows nothing of how it is used: the same function serves as target, constraint or cost.
    `labels` names each row with its unit.
    """

    labels: tuple[str, ...]

    @abstractmethod
    def value(self, at: Configuration) -> Array:
        """Give f, (m,)."""

    @abstractmethod
    def jacobian(self, at: Configuration) -> Array:
        """Give df/dq in the tangent space, (m, nv)."""

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        """Both; for functions whose two parts share work."""
        return self.value(at), self.jacobian(at)
