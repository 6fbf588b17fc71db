"""Moves a colliding solution out of collision."""

from functools import cached_property

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import MinimumDistance
from ros2_ik.core.problem import accept, Constraint, IKProblem
from ros2_ik.core.scene import CollisionChecker, Contact
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.self_motion import SelfMotion
from ros2_ik.core.solvers.solver import Attempt
from ros2_ik.core.solvers.sqp import SequentialQuadratic

GAP = 2e-3          # how far apart touching pairs are pushed [m]
SIGHT = 0.15        # up to what distance pairs are looked at meanwhile [m]
DOUBT = 1e-4        # so much deeper than tolerances allow for are contacts that must be [m]
ONE_IN = 8          # answers that touch, where there are restarts, which cost less


class Clearance:
    """
    Ways out of contact for one problem.

    A robot with more joints than its targets have rows walks along its answers, see `SelfMotion`.
    Others are pushed out: nearest pairs become constraints for `sqp`. With `restarts` that is
    tried for one answer in eight.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker, restarts: bool) -> None:
        self._problem, self._checker = problem, checker
        self._every = ONE_IN if restarts else 1
        self._pusher: SequentialQuadratic | None = None
        self._asked = 0

    def freed(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt that touches nothing and reaches what `touching` reached, or None."""
        if self._motion is not None:
            return self._motion.freed(touching, budget)
        self._asked += 1
        if self._asked % self._every:
            return None
        return self._pushed(touching.q, budget)

    @cached_property
    def _motion(self) -> SelfMotion | None:
        if not self._problem.kinds <= {'targets'}:
            return None
        motion = SelfMotion(self._problem, self._checker)
        return motion if motion.is_possible else None

    def _pushed(self, q: Array, budget: Budget) -> Attempt | None:
        if self._pusher is None:
            apart = Constraint(_KnownDistance(self._checker, SIGHT), lower=GAP)
            problem = self._problem.varied(constraints=[*self._problem.constraints, apart],
                                           costs=())
            self._pusher = SequentialQuadratic(problem, attempt_iterations=15)
        attempt = self._pusher.attempt(q, budget)
        budget.iterations -= attempt.iterations
        # parts stand off from triangles: what is free need not have reached the gap
        if (attempt.reached or self._holds(attempt.q)) and not self._checker.collides(attempt.q):
            return Attempt(attempt.q, attempt.error, attempt.iterations, attempt.exit_flag)
        return None

    def _holds(self, q: Array) -> bool:
        """Return whether all but the gap holds."""
        return not accept(self._problem, q).violations


class _KnownDistance(MinimumDistance):
    """Distances of what there is: the time of a search is its bound."""

    makes_parts = False


def tip_contacts(problem: IKProblem, checker: CollisionChecker) -> tuple[Contact, ...]:
    """
    Return what touches with the tips at their targets, whatever the joint values.

    That is what is rigid with a tip, such as a gripper or a held object, against what stands in
    the world.
    """
    found: list[Contact] = []
    for target in problem.targets:
        if target.whole and target.relative_to is None:
            found += checker.rigid_contacts(
                target.tip, target.function.reference, problem.start, problem.joint_names,
                target.position_tolerance + DOUBT, target.orientation_tolerance)
    return tuple(found)
