"""Escape of colliding solutions from contact; detection of contacts that all solutions have."""

from functools import cached_property

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import CollisionChecker, Contact
from ros2_ik.core.functions.collision_distances import KnownMinimumDistance
from ros2_ik.core.problem import accept, Constraint, IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.self_motion import SelfMotion
from ros2_ik.core.solvers.solver import Attempt
from ros2_ik.core.solvers.sqp import SequentialQuadratic

# distance to which pairs in contact are pushed apart [m]
GAP = 2e-3
# pairs up to this distance take part in the push [m]
INFLUENCE_DISTANCE = 0.15
# penetration beyond the position tolerance above which a tip's contact is unavoidable [m]
UNAVOIDABLE_DEPTH = 1e-4
# With restarts, one of this many colliding solutions is pushed. If all were pushed, searches for
# blocked targets of a UR5 would take twice as long; if none were pushed, searches for reachable
# targets near obstacles would take twice as long, with more solutions far from the seed.
PUSH_INTERVAL = 8


class Clearance:
    """
    Moves colliding solutions of one problem out of contact.

    If the robot has more joints than the targets have rows, solutions move along `SelfMotion`.
    Otherwise they are pushed: `sqp` solves the problem with minimum distances as constraints; with
    `restarts`, only every eighth solution is pushed.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker, restarts: bool) -> None:
        self._problem, self._checker = problem, checker
        self._interval = PUSH_INTERVAL if restarts and not problem.costs else 1
        self._n_calls = 0

    def escape_collision(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt without contact that meets the hard rows, or None."""
        if self._motion is not None:
            return self._motion.escape_collision(touching, budget)
        self._n_calls += 1
        if self._n_calls % self._interval:
            return None
        attempt = self._pusher.attempt(touching.q, budget)
        budget.iterations -= attempt.iterations
        # distances refer to convex parts, which are larger than the meshes: q may be free of
        # contact although the distance constraint fails
        reached = attempt.reached or not accept(self._problem, attempt.q).violations
        return attempt if reached and not self._checker.collides(attempt.q) else None

    @cached_property
    def _pusher(self) -> SequentialQuadratic:
        apart = Constraint(KnownMinimumDistance(self._checker, INFLUENCE_DISTANCE), lower=GAP)
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
    """Return the contacts at q (nq,) between bodies that no active joint can separate."""
    robot, active = problem.robot, set(problem.joint_names)

    def is_lasting(pair: tuple[str, str]) -> bool:
        links = [checker.scene.link_of(name) or robot.root_frame for name in pair]
        return active.isdisjoint(robot.moving_joints(*links))
    # without depths first: `in_collision` takes longer
    if not any(map(is_lasting, checker.touching(q))):
        return ()
    return tuple(contact for contact in checker.in_collision(q, at_once=True)
                 if is_lasting((contact.first, contact.second)))


def tip_contacts(problem: IKProblem, checker: CollisionChecker) -> tuple[Contact, ...]:
    """
    Return the contacts of the tips at their targets, which no joint values avoid.

    These are contacts between bodies fixed to a tip, such as a gripper or an attached object, and
    fixed bodies of the scene.
    """
    found: list[Contact] = []
    for target in problem.targets:
        if target.counted.all() and target.relative_to is None:
            found += checker.rigid_contacts(
                target.tip, target.function.reference, problem.start, problem.joint_names,
                target.position_tolerance + UNAVOIDABLE_DEPTH, target.orientation_tolerance,
                problem.robot)
    return tuple(found)
