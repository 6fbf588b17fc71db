"""Moves a colliding solution out of collision."""

from functools import cached_property

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import CollisionChecker, Contact
from ros2_ik.core.functions.minimum_distance import KnownMinimumDistance
from ros2_ik.core.problem import accept, Constraint, IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.self_motion import SelfMotion
from ros2_ik.core.solvers.solver import Attempt
from ros2_ik.core.solvers.sqp import SequentialQuadratic

GAP = 2e-3          # how far apart touching pairs are pushed [m]
SIGHT = 0.15        # up to what distance pairs are looked at meanwhile [m]
DEEPER = 1e-4       # than the position tolerance: such a contact of the tip is unavoidable [m]
# with restarts one in eight answers in contact is pushed: if all were, blocked targets of a UR5
# would take twice as long; if none, free ones beside blocked ones would, more of them far away
ONE_IN = 8


class Clearance:
    """
    Ways out of contact for one problem.

    A robot with more joints than target rows is moved through its other answers by `SelfMotion`.
    Others are pushed out: nearest pairs become constraints for `sqp`. With `restarts` that is
    tried for one answer in eight.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker, restarts: bool) -> None:
        self._problem, self._checker = problem, checker
        self._every = ONE_IN if restarts and not problem.costs else 1
        self._asked = 0

    def escape_collision(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt that touches nothing and reaches what `touching` reached, or None."""
        if self._motion is not None:
            return self._motion.escape_collision(touching, budget)
        self._asked += 1
        if self._asked % self._every:
            return None
        attempt = self._pusher.attempt(touching.q, budget)
        budget.iterations -= attempt.iterations
        # distances are those of convex parts, larger than the mesh: q may be free within the gap
        reached = attempt.reached or not accept(self._problem, attempt.q).violations
        return attempt if reached and not self._checker.collides(attempt.q) else None

    @cached_property
    def _pusher(self) -> SequentialQuadratic:
        apart = Constraint(KnownMinimumDistance(self._checker, SIGHT), lower=GAP)
        problem = self._problem.varied(constraints=[*self._problem.constraints, apart])
        return SequentialQuadratic(problem, attempt_iterations=15)

    @cached_property
    def _motion(self) -> SelfMotion | None:
        if not self._problem.kinds <= {'targets'}:
            return None
        motion = SelfMotion(self._problem, self._checker)
        return motion if motion.is_possible else None


def lasting_contacts(problem: IKProblem, checker: CollisionChecker, q: Array
                     ) -> tuple[Contact, ...]:
    """Return the contacts at q (nq,) of links and objects that no moving joint parts."""
    robot, moving = problem.robot, set(problem.joint_names)

    def lasts(pair: tuple[str, str]) -> bool:
        links = [checker.scene.link_of(name) or robot.root_frame for name in pair]
        return moving.isdisjoint(robot.moving_joints(*links))
    if not any(map(lasts, checker.touching(q))):    # to measure depths takes longer
        return ()
    return tuple(contact for contact in checker.in_collision(q, at_once=True)
                 if lasts((contact.first, contact.second)))


def tip_contacts(problem: IKProblem, checker: CollisionChecker) -> tuple[Contact, ...]:
    """
    Return what touches with the tips at their targets, whatever the joint values.

    Contacts of what is rigid with a tip, such as a gripper or a held object, with what stands in
    the world.
    """
    found: list[Contact] = []
    for target in problem.targets:
        if target.counted.all() and target.relative_to is None:
            found += checker.rigid_contacts(
                target.tip, target.function.reference, problem.start, problem.joint_names,
                target.position_tolerance + DEEPER, target.orientation_tolerance, problem.robot)
    return tuple(found)
