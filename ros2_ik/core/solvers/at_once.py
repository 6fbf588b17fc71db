"""The short way to an answer: one descent from the seed, or from random starts in one go."""

from functools import lru_cache
import math
import os
import time
from typing import Any

import numpy as np

from ros2_ik.core.problem import accept, IKProblem, IKSolution, JointChange, largest_change
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.report import found_in
from ros2_ik.core.solvers.restarts import chosen_turns, is_close, NEAR, Starts, within_limits
from ros2_ik.core.solvers.search import chosen_solver
from ros2_ik.core.status import ExitFlag, Status


@lru_cache(maxsize=1)
def _random(process: int) -> np.random.Generator:
    """Return the generator of a process, forked ones have others: to make one takes long."""
    return np.random.default_rng()


def answer_at_once(problem: IKProblem, budget: Budget, allow_restarts: bool,
                   random_state: Any) -> IKSolution | None:
    """
    Return the answer to a question about poses that `Search` finds by its first descents.

    None where there is more to it: contact, an answer far from a seed that is close, loose
    tolerances, or none found from the random starts that a search tries in one go. The search
    that takes over then tries the same again.
    """
    solver = problem.structure.solvers.get('lm')    # kept since the first such question
    if type(solver) is not LevenbergMarquardt or not solver.serves(problem):
        return None
    seed = problem.start
    found = solver.descend_to_poses(problem, np.array(seed, ndmin=2))
    tried, iterations = 1, found.iterations
    if found.flag != ExitFlag.CONVERGED:
        start = within_limits(problem, seed)
        # a generator of the user's is not to be used twice
        if not allow_restarts or budget.over() or problem.change_bound is not None \
                or isinstance(random_state, np.random.Generator) or is_close(problem, start):
            return None
        random = _random(os.getpid()) if random_state is None \
            else np.random.default_rng(random_state)
        found = solver.descend_to_poses(problem, Starts(problem, seed).random(
            random, solver.at_once))
        tried, iterations = tried + found.starts, iterations + found.iterations
        if found.flag != ExitFlag.CONVERGED:
            return None
    q, change = found.q, _change(problem, found) if tried == 1 else None
    if change is None:
        q = chosen_turns(problem, q, seed)
        change = largest_change(problem.active, seed, q)
    verdict = accept(problem, q)
    if not verdict.accepted:
        return None
    if tried == 1 and change is not None and change.change > NEAR and allow_restarts \
            and is_close(problem, within_limits(problem, seed)):
        return None
    name, reason = chosen_solver('auto', problem)
    return IKSolution.of(
        status=Status.SUCCESS, message=found_in(problem, tried, change), best_q=q,
        best_joints=problem.robot.to_joints(q), errors=verdict.errors,
        iterations=iterations, restarts=tried - 1, seconds=time.monotonic() - budget.started,
        solver=name, solver_reason=reason, exit_flag=ExitFlag.CONVERGED, travel=change,
        not_checked=problem.not_checked, geometry_notes=problem.geometry_notes)


def _change(problem: IKProblem, found: Any) -> JointChange | None:
    """Return the largest change to an end of which no turn can be nearer the seed, or None."""
    if not (problem.active.all_scalar and found.change < math.pi):
        return None
    joint = problem.active.joints[found.farthest]
    return JointChange(joint.name, found.change, 'rad' if joint.rotary else 'm')
