"""Functions of the distances that a collision checker finds."""

from abc import abstractmethod

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.kinematic_function import KinematicFunction
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene import CollisionChecker

QUICK = 500     # triangles of meshes whose convex parts are made where a function is


class CheckedDistance(KinematicFunction):
    """
    A function of what is near in a checker; value and Jacobian share all work: `evaluate`.

    Convex parts of small meshes are made now, so that no search has to wait for them, unless a
    subclass has no `makes_parts`; hulls stand for the others until `CollisionChecker.make_parts`
    was called.
    """

    periodic = True
    makes_parts = True

    def __init__(self, checker: CollisionChecker, *pair: str) -> None:
        if not isinstance(checker, CollisionChecker):
            raise InvalidConstraintError(f'checker must be a CollisionChecker, not {checker!r}')
        self.checker = checker.only(*pair) if pair else checker
        if self.makes_parts:
            self.checker.make_parts(QUICK)

    def joints(self, robot: Robot) -> frozenset[str]:
        if robot.key != self.checker.robot.key:
            raise InvalidConstraintError(f'the checker of {self.kind} is of another robot')
        return self.checker.moving_joints

    @abstractmethod
    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        """Give f (m,) and its Jacobian (m, nv)."""
