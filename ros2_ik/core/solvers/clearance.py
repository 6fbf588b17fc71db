"""Moves a colliding solution out of collision."""

from collections.abc import Iterator

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import MinimumDistance
from ros2_ik.core.problem import accept, Constraint, IKProblem
from ros2_ik.core.scene import CollisionChecker, Contact
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.solver import Attempt, Solver
from ros2_ik.core.solvers.sqp import SequentialQuadratic

STRIDE = 0.3        # of a step along the answers [rad, m]
STEPS = 10          # each way
RETURN = 4          # iterations back onto the targets after a step
GAP = 2e-3          # how far apart touching pairs are pushed [m]
SIGHT = 0.15        # up to what distance pairs are looked at meanwhile [m]
DOUBT = 1e-4        # so much deeper than tolerances allow for are contacts that must be [m]
ONE_IN = 8          # answers that touch, where there are restarts, which cost less


class Clearance:
    """
    Ways out of contact for one problem, whose targets `solver` reaches.

    A robot with more joints than its targets have rows has a curve of answers through each one:
    that is walked both ways until an answer is free. Others are pushed out: nearest pairs become
    constraints for `sqp`. With `restarts` that is tried for one answer in eight.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker, solver: Solver,
                 restarts: bool) -> None:
        self._problem, self._checker, self._solver = problem, checker, solver
        self._every = ONE_IN if restarts else 1
        self._vector_space = problem.active.vector_space
        self._rows: ProblemRows | None = None
        self._pusher: SequentialQuadratic | None = None
        self._asked = 0

    def freed(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt that touches nothing and reaches what `touching` reached, or None."""
        self._asked += 1
        if self._asked % self._every:
            return None
        if self._can_walk():
            for sign in (1.0, -1.0):
                for attempt in self._walk(touching.q, sign, budget):
                    if not self._checker.collides(attempt.q):
                        return attempt
            return None
        return self._pushed(touching.q, budget)

    def _can_walk(self) -> bool:
        if not (self._vector_space and self._problem.kinds <= {'targets'}):
            return False
        if self._rows is None:
            self._rows = ProblemRows(self._problem)
        return len(self._problem.active.columns) > len(self._rows.lower)

    def _walk(self, q: Array, sign: float, budget: Budget) -> Iterator[Attempt]:
        """Yield answers one stride from each other, as far as they go."""
        problem, place = self._problem, self._problem.active.place
        assert self._rows is not None
        along: Array | None = None
        for _ in range(STEPS):
            if budget.over():
                return
            J = self._rows.evaluate_hard(q)[1]
            free = np.linalg.svd(J)[2][-1] * sign
            if along is not None and free @ along < 0:
                free = -free
            along, moved = free, q.copy()
            moved[place] = np.clip(moved[place] + STRIDE * free, problem.active.lower,
                                   problem.active.upper)
            attempt = self._solver.attempt(moved, Budget(iterations=RETURN))
            budget.iterations -= attempt.iterations
            if not attempt.reached or np.abs(attempt.q - q).max() < 0.1 * STRIDE:
                return       # the curve ends at a limit, or cannot be followed
            q = attempt.q
            yield attempt

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
