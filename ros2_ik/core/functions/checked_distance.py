"""Functions of the distances that a collision checker computes."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.fields import FieldType
from ros2_ik.core.functions.kinematic_function import KinematicFunction
from ros2_ik.core.robot import Configuration, Robot

QUICK = 500     # largest number of triangles of a mesh decomposed in the constructor


def _checker(value: object, name: str) -> CollisionChecker:
    if not isinstance(value, CollisionChecker):
        raise InvalidConstraintError(f'{name} must be a CollisionChecker, not {value!r}')
    return value


Checker = Annotated[CollisionChecker, FieldType(
    'the collision checker of the scene', lambda given: None, _checker, supplied=True)]


@dataclass(frozen=True, eq=False)
class CheckedDistance(KinematicFunction):
    """
    A function of the distances of a collision checker.

    With `makes_parts` the constructor decomposes small meshes (up to QUICK triangles) into convex
    parts, so that no search waits for the decomposition. Larger meshes are replaced by their
    convex hulls until `CollisionChecker.make_parts` is called.
    """

    periodic = True
    makes_parts = True

    checker: Checker

    def __post_init__(self) -> None:
        super().__post_init__()
        self.keep('checker', self.narrowed(self.checker))
        if self.makes_parts:
            self.checker.make_parts(QUICK)

    def narrowed(self, checker: CollisionChecker) -> CollisionChecker:
        """Return a checker of only the pairs that this function measures (default: all pairs)."""
        return checker

    def joints(self, robot: Robot) -> frozenset[str]:
        if robot.key != self.checker.robot.key:
            raise InvalidConstraintError(f'the checker of {self.kind} is of another robot')
        return self.checker.moving_joints

    @abstractmethod
    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        """Return f (m,) and its Jacobian (m, nv)."""
