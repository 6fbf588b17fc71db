"""The short way to an answer: one descent from the seed, then from random starts, in one go."""

from functools import lru_cache, partial
import os
import time
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import (
    accept,
    AcceptanceReport,
    conflict,
    IKProblem,
    IKSolution,
    JointChange,
    largest_change,
)
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import LevenbergMarquardt, PoseDescent
from ros2_ik.core.solvers.report import found_in, named_costs
from ros2_ik.core.solvers.restarts import chosen_turns, is_close, NEAR, Starts, within_limits
from ros2_ik.core.solvers.search import Begun, CHANGES, chosen_solver, NAMED
from ros2_ik.core.solvers.solver import Attempt, make_solver, Solver
from ros2_ik.core.status import ExitFlag, Status


@lru_cache(maxsize=1)
def shared(process: int) -> np.random.Generator:
    """Return the generator of a process, whose threads take turns: to make one takes long."""
    return np.random.default_rng()


def answer_at_once(problem: IKProblem, seed: Array, solver: str, budget: Budget,
                   allow_restarts: bool, random_state: Any) -> IKSolution | Begun | None:
    """
    Return the answer to a question that `Search` finds by its first descents.

    Or what is begun, where there is more to it: contact, an answer far from a seed that is close,
    loose tolerances, or none found from the random starts that a search tries in one go. Where
    that is None, the search that takes over tries the same again.
    """
    name, reason = chosen_solver(solver, problem)
    if name == 'lm' and solver == 'auto' and seed is problem.start:
        return _poses_at_once(problem, budget, allow_restarts, random_state)
    if name == 'sqp' and (reason == NAMED or not any(one.loose for one in problem.targets)):
        return _held_at_once(problem, seed, solver, budget, allow_restarts, random_state)
    return None


def _held_at_once(problem: IKProblem, seed: Array, name: str, budget: Budget,
                  allow_restarts: bool, random_state: Any) -> IKSolution | Begun:
    """Descend from the seed, then from the first starts that a search draws."""
    solver, start = make_solver('sqp', problem, {}), within_limits(problem, seed)
    attempt = solver.attempt(start, budget.for_whole_descent())
    begun = Begun([(attempt, 1, start)], np.empty((0, len(start))), 0, None)
    if not attempt.reached and allow_restarts and problem.change_bound is None \
            and problem.joint_names and not is_close(problem, start) and not conflict(problem):
        begun = _restarted(problem, solver, seed, budget, random_state, begun)
        attempt = begun.attempts[-1][0]
    if not attempt.reached:
        return begun
    q = chosen_turns(problem, attempt.q, seed)
    verdict, change = accept(problem, q), largest_change(problem.active, seed, q)
    attempts = sum(used for _, used, _ in begun.attempts)
    if not verdict.accepted or allow_restarts and problem.targets and (
            attempts > 1 or change is not None and change.change > NEAR) \
            and is_close(problem, start):
        return begun
    if problem.costs:    # all descents may lead away from a seed that will do
        other = accept(problem, start)
        if other.accepted and sum(other.costs) < sum(verdict.costs):
            return begun
    return _solution(problem, q, verdict, name, budget, attempts,
                     sum(one.iterations for one, _, _ in begun.attempts), change,
                     attempt.exit_flag)


def _restarted(problem: IKProblem, solver: Solver, seed: Array, budget: Budget,
               random_state: Any, begun: Begun) -> Begun:
    """Go on from starts near the seed, where no target is far from it, and from random ones."""
    generator, starts, draws = _generator(random_state), Starts(problem, seed), 0
    for nearby in (False,) if problem.targets else (True, False):
        drawn = (starts.near(generator, CHANGES) if nearby
                 else starts.random(generator, solver.at_once))
        draws += 1
        while len(drawn) and not budget.over():
            attempt, used = solver.attempt_in_turn(drawn[:solver.at_once], budget)
            begun.attempts.append((attempt, used, drawn[used - 1]))
            drawn = drawn[used:]
            if attempt.reached:
                break
        if len(drawn) or begun.attempts[-1][0].reached:
            break
    return Begun(begun.attempts, drawn, draws, generator)


def _poses_at_once(problem: IKProblem, budget: Budget, allow_restarts: bool,
                   random_state: Any) -> IKSolution | Begun | None:
    """Descend from the start, then from random ones, in one call."""
    # kept since the first such question, which is to be answered as the others are
    solver = problem.structure.solvers.get('lm') or make_solver('lm', problem, {})
    active = problem.active
    if type(solver) is not LevenbergMarquardt or not solver.serves(problem):
        return None
    count, size = 0, len(active.indices)
    if allow_restarts and problem.change_bound is None and _can_wind_back(random_state) \
            and not budget.over():
        count = solver.at_once
    generator, numbers = random_state, np.empty((0, size))
    found = solver.descend_to_poses(problem, numbers)
    if count and found.flag != ExitFlag.CONVERGED:
        # numbers, and what draws them, are made only now: most answers are near
        generator = _generator(random_state)
        numbers = generator.random((count, size))
        found = solver.descend_to_poses(problem, numbers, found)
    answer = _judged(problem, found, allow_restarts, budget, numbers, generator)
    if answer is None and generator is random_state and numbers.size:
        wound: Any = generator.bit_generator
        wound.advance(-numbers.size)    # the search is to draw the same
    return answer


def _generator(random_state: Any) -> np.random.Generator:
    return shared(os.getpid()) if random_state is None else np.random.default_rng(random_state)


def _can_wind_back(random_state: Any) -> bool:
    return not isinstance(random_state, np.random.Generator) or isinstance(
        random_state.bit_generator, np.random.PCG64)


def _judged(problem: IKProblem, found: PoseDescent, allow_restarts: bool, budget: Budget,
            numbers: Array, generator: Any) -> IKSolution | Begun | None:
    """Return the answer where descents have ended, or what is begun; `numbers` made the starts."""
    if found.flag != ExitFlag.CONVERGED:
        return _begun(problem, found, numbers, generator)
    q, change = found.q, _change(problem, found)
    verdict = accept(problem, q)
    if verdict.touches:
        return _begun(problem, found, numbers, generator)
    if not verdict.accepted:
        return None
    if allow_restarts and (found.starts > 1 or change is not None and change.change > NEAR) \
            and is_close(problem, within_limits(problem, problem.start)):
        return None
    return _solution(problem, q, verdict, 'auto', budget, found.starts, found.iterations, change,
                     ExitFlag.CONVERGED)


def _begun(problem: IKProblem, found: PoseDescent, numbers: Array,
           generator: Any) -> Begun | None:
    """Return what a search goes on with, the end that was found first; None where it is near."""
    end = Attempt(found.q, found.error, found.iterations, ExitFlag(found.flag))
    start = within_limits(problem, problem.start)
    if found.starts == 1:
        return Begun([(end, 1, start)], np.empty((0, len(start))), 0, None)
    if is_close(problem, start):
        return None
    left = np.empty((0, len(start)))
    if problem.active.vector_space:     # a search does not draw what moves a base alike
        left = Starts(problem, problem.start).of(numbers[found.starts - 1:])
    return Begun([(end, found.starts, start)], left, 1, generator)


def _solution(problem: IKProblem, q: Array, verdict: AcceptanceReport, solver: str,
              budget: Budget, attempts: int, iterations: int, change: JointChange | None,
              flag: ExitFlag) -> IKSolution:
    name, reason = chosen_solver(solver, problem)
    return IKSolution.of(
        partial(found_in, problem, attempts, change), status=Status.SUCCESS, best_q=q,
        best_joints=problem.robot.to_joints(q, include_mimic=True), errors=verdict.errors,
        costs=named_costs(problem, verdict), iterations=iterations, restarts=attempts - 1,
        seconds=time.monotonic() - budget.started, solver=name, solver_reason=reason,
        exit_flag=flag, travel=change, not_checked=problem.not_checked,
        geometry_notes=problem.geometry_notes)


def _change(problem: IKProblem, found: PoseDescent) -> JointChange | None:
    """Return the largest change from the start."""
    if not problem.active.all_scalar:
        return largest_change(problem.active, problem.start, found.q)
    joint = problem.active.joints[found.farthest]
    return JointChange(joint.name, found.change, 'rad' if joint.rotary else 'm')
