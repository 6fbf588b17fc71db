"""The short way to an answer: one descent from the seed, then from random starts, in one go."""

from functools import lru_cache, partial
import os
import time
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import accept, IKProblem, IKSolution, JointChange, largest_change
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import LevenbergMarquardt, PoseDescent
from ros2_ik.core.solvers.report import found_in
from ros2_ik.core.solvers.restarts import is_close, NEAR, within_limits
from ros2_ik.core.solvers.search import chosen_solver
from ros2_ik.core.status import ExitFlag, Status

MANY = 2**13    # numbers drawn at a time: a call takes as long as hundreds of them


class Draws:
    """Random numbers in [0, 1); threads that ask for some at once may get the same."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng()
        self._numbers, self._next = self._generator.random(MANY), 0

    def take(self, count: int, size: int) -> Array:
        """Return numbers (count, size)."""
        first, last = self._next, self._next + count * size
        if last > MANY:
            self._numbers, first, last = self._generator.random(MANY), 0, count * size
        self._next = last
        return self._numbers[first:last].reshape(count, size)


@lru_cache(maxsize=1)
def draws(process: int) -> Draws:
    """Return those of a process, forked ones have others: to make a generator takes long."""
    return Draws()


def answer_at_once(problem: IKProblem, budget: Budget, allow_restarts: bool,
                   random_state: Any) -> IKSolution | None:
    """
    Return the answer to a question about poses that `Search` finds by its first descents.

    None where there is more to it: contact, an answer far from a seed that is close, loose
    tolerances, or none found from the random starts that a search tries in one go. The search
    that takes over then tries the same again.
    """
    solver = problem.structure.solvers.get('lm')    # kept since the first such question
    active = problem.active
    if type(solver) is not LevenbergMarquardt or not active.vector_space \
            or not solver.serves(problem):
        return None
    count, size = 0, len(active.indices)
    if allow_restarts and problem.change_bound is None and _can_wind_back(random_state) \
            and not budget.over():
        count = solver.at_once
    found = solver.descend_to_poses(
        problem, draws(os.getpid()).take(count, size) if random_state is None
        else np.empty((0, size)))
    if not count or random_state is None or found.flag == ExitFlag.CONVERGED:
        return _judged(problem, found, allow_restarts, budget)
    # a generator takes longer to make than an answer that is near
    generator = np.random.default_rng(random_state)
    found = solver.descend_to_poses(problem, generator.random((count, size)))
    answer = _judged(problem, found, allow_restarts, budget)
    if answer is None and generator is random_state:    # the search is to draw the same
        wound: Any = generator.bit_generator
        wound.advance(-count * size)
    return answer


def _can_wind_back(random_state: Any) -> bool:
    return not isinstance(random_state, np.random.Generator) or isinstance(
        random_state.bit_generator, np.random.PCG64)


def _judged(problem: IKProblem, found: PoseDescent, allow_restarts: bool,
            budget: Budget) -> IKSolution | None:
    """Return the answer where descents have ended, None where there is more to it."""
    if found.flag != ExitFlag.CONVERGED:
        return None
    q, change = found.q, _change(problem, found)
    verdict = accept(problem, q)
    if not verdict.accepted:
        return None
    if allow_restarts and (found.starts > 1 or change is not None and change.change > NEAR) \
            and is_close(problem, within_limits(problem, problem.start)):
        return None
    name, reason = chosen_solver('auto', problem)
    return IKSolution.of(
        partial(found_in, problem, found.starts, change), status=Status.SUCCESS, best_q=q,
        best_joints=problem.robot.to_joints(q), errors=verdict.errors,
        iterations=found.iterations, restarts=found.starts - 1,
        seconds=time.monotonic() - budget.started,
        solver=name, solver_reason=reason, exit_flag=ExitFlag.CONVERGED, travel=change,
        not_checked=problem.not_checked, geometry_notes=problem.geometry_notes)


def _change(problem: IKProblem, found: PoseDescent) -> JointChange | None:
    """Return the largest change from the start."""
    if not problem.active.all_scalar:
        return largest_change(problem.active, problem.start, found.q)
    joint = problem.active.joints[found.farthest]
    return JointChange(joint.name, found.change, 'rad' if joint.rotary else 'm')
