"""Moves a colliding solution out of collision."""

from functools import cached_property

import numpy as np

from ros2_ik.core.arrays import Array, Mask
from ros2_ik.core.collision import CollisionChecker, Contact
from ros2_ik.core.functions import MinimumDistance
from ros2_ik.core.problem import accept, Constraint, IKProblem
from ros2_ik.core.problem.active_joints import TURN
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.self_motion import SelfMotion
from ros2_ik.core.solvers.solver import Attempt
from ros2_ik.core.solvers.sqp import SequentialQuadratic

GAP = 2e-3          # how far apart touching pairs are pushed [m]
SIGHT = 0.15        # up to what distance pairs are looked at meanwhile [m]
DEEPER = 1e-4       # than the position tolerance: such a contact of the tip is unavoidable [m]
ONE_IN = 8          # with restarts, which cost less, only every eighth answer in contact is pushed
SAME = 1e-2         # answers closer than this in every joint [rad, m] are one


class Clearance:
    """
    Ways out of contact for one problem.

    A robot with more joints than its targets have rows walks along its answers, see `SelfMotion`.
    Others are pushed out: nearest pairs become constraints for `sqp`. With `restarts` that is
    tried for one answer in eight.

    Without a joint to spare there are only a few answers, which restarts find again and again:
    these are known from then on. `repeats` counts how many in a row were known.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker, restarts: bool) -> None:
        self._problem, self._checker = problem, checker
        self._every = ONE_IN if restarts and not problem.costs else 1
        self._pusher: SequentialQuadratic | None = None
        self._asked = self.repeats = 0
        self._touching = np.empty((0, len(problem.active.indices)))

    def escape_collision(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt that touches nothing and reaches what `touching` reached, or None."""
        if self._motion is not None:
            return self._motion.escape_collision(touching, budget)
        if self._is_isolated:
            self._touching = np.vstack([self._touching, touching.q[self._problem.active.place]])
        self._asked += 1
        if self._asked % self._every:
            return None
        return self._pushed(touching.q, budget)

    @property
    def known(self) -> int:
        """How many answers are known to touch, where there are but few."""
        return len(self._touching)

    def knows(self, q: Array) -> bool:
        """Return whether an answer, but for turns of joints, is one that touches; counts that."""
        if not len(self._touching):
            return False
        away = self._touching - q[self._problem.active.place]
        turns = self._turns
        away[:, turns] -= TURN * np.round(away[:, turns] / TURN)
        is_known = bool((np.abs(away).max(axis=1) < SAME).any())
        self.repeats = self.repeats + 1 if is_known else 0
        return is_known

    @cached_property
    def _turns(self) -> Mask:
        """Which of the moving joints' values a full turn brings to the same."""
        return np.isin(self._problem.active.indices, self._problem.angles)

    @cached_property
    def _motion(self) -> SelfMotion | None:
        if not self._problem.kinds <= {'targets'}:
            return None
        motion = SelfMotion(self._problem, self._checker)
        return motion if motion.is_possible else None

    @cached_property
    def _is_isolated(self) -> bool:
        """Whether no answer has others round it, but where the robot is singular."""
        return (self._motion is None and self._problem.kinds <= {'targets'}
                and self._problem.active.vector_space)

    def _pushed(self, q: Array, budget: Budget) -> Attempt | None:
        if self._pusher is None:
            apart = Constraint(_KnownDistance(self._checker, SIGHT), lower=GAP)
            problem = self._problem.varied(constraints=[*self._problem.constraints, apart])
            self._pusher = SequentialQuadratic(problem, attempt_iterations=15)
        attempt = self._pusher.attempt(q, budget)
        budget.iterations -= attempt.iterations
        # distances are those of convex parts, larger than the mesh: q may be free within the gap
        if (attempt.reached or self._holds(attempt.q)) and not self._checker.collides(attempt.q):
            return attempt
        return None

    def _holds(self, q: Array) -> bool:
        """Return whether all but the gap holds."""
        return not accept(self._problem, q).violations


class _KnownDistance(MinimumDistance):
    """Distances by convex parts made before: to make them takes longer than a search may."""

    makes_parts = False


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

    That is what is rigid with a tip, such as a gripper or a held object, against what stands in
    the world.
    """
    found: list[Contact] = []
    for target in problem.targets:
        if target.counted.all() and target.relative_to is None:
            found += checker.rigid_contacts(
                target.tip, target.function.reference, problem.start, problem.joint_names,
                target.position_tolerance + DEEPER, target.orientation_tolerance)
    return tuple(found)
