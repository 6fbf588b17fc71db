"""Escape from contacts along the self-motion of a solution."""

import numpy as np

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.kernels.self_motion import step_along
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.solver import Attempt, make_solver
from ros2_ik.core.status import ExitFlag

STRIDE = 0.5       # of a step [rad, m]
STEPS = 15         # each way
RETURN = 6         # iterations back onto the targets after a step
SEEN = 0.1         # an answer this near one that was walked over [rad, m] leads over the same


class SelfMotion:
    """
    Walks along the answers to a problem whose targets have fewer rows than joints move.

    Through each answer there is a curve of answers, or more than that. It is followed both ways
    by turns until one touches nothing, or both ways are at an end: at limits of joints, or where
    a step leads back to no answer. What was walked over in vain is not walked over again.

    A Panda among boxes, where the descent from a near seed ends in contact, goes to a far answer
    in a third of the cases without this walk; with it in some 10 %, and four times as fast.
    """

    def __init__(self, problem: IKProblem, checker: CollisionChecker) -> None:
        self._checker, self._place = checker, problem.active.q_slice
        solver = make_solver('lm', problem, {})
        assert isinstance(solver, LevenbergMarquardt)
        self._rows = rows = solver.rows
        self.is_possible = (problem.active.vector_space
                            and len(problem.active.columns) > len(rows.rows))
        self._step = step_along.run
        self._given = rows.limits, rows.rows, rows.bounds, solver.options
        self._first = np.sin(np.arange(1.0, 1.0 + len(problem.active.columns)))    # any one
        self._seen = np.empty((0, len(problem.active.indices)))

    def escape_collision(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt that touches nothing and reaches what `touching` reached, or None."""
        x = touching.q[self._place]
        if (np.abs(self._seen - x).max(axis=1, initial=0.0) < SEEN).any():
            return None
        ways = [(x.copy(), self._first.copy()), (x.copy(), -self._first)]
        walked, iterations, free = [x], 0, None
        for _ in range(STEPS):
            ways, before = [], ways
            for way in before:
                goes_on, done = self._rows.hard.run(
                    self._step, None, *way, *self._given, STRIDE, RETURN)
                iterations += done
                if not goes_on:
                    continue
                ways.append(way)
                q = touching.q.copy()
                q[self._place] = way[0]
                if not self._checker.collides(q):
                    free = q
                    break
                walked.append(way[0].copy())
            if free is not None or not ways or budget.over():
                break
        budget.iterations -= iterations
        if free is None:
            self._seen = np.vstack([self._seen, *walked])
            return None
        return Attempt(free, 0.0, iterations, ExitFlag.CONVERGED)
