"""Status, message and other fields of a solution, computed from a search."""

from collections.abc import Callable
from itertools import chain, combinations
import math
from typing import Any, TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import Contact
from ros2_ik.core.collision.contacts import deepest
from ros2_ik.core.errors import counted
from ros2_ik.core.kernels.comparisons import are_within
from ros2_ik.core.problem import accept, IKProblem, IKSolution, JointChange, largest_change
from ros2_ik.core.robot import LIMIT_TOLERANCE
from ros2_ik.core.solvers.solver import Budget, make_solver
from ros2_ik.core.solvers.starts import N_NEAR, Starts
from ros2_ik.core.status import ExitFlag, Status

if TYPE_CHECKING:
    from ros2_ik.core.solvers.search import Candidate, Search

# adjective of the returned solution in messages, by the value of `select` (others: the value
# itself); of several solutions, 'first' returns the nearest
_ADJECTIVES = {'first': 'nearest', 'cost': 'cheapest', 'manipulability': 'most manipulable'}
# maximum number of joints or pairs in one message
_MAX_NAMES = 3
TRIAL_RESTARTS = 20        # restarts of a trial search with freed axes (a few milliseconds long)
TRIAL_ITERATIONS = 2000    # maximum number of iterations of a trial search with freed axes
# rotation axes by their index in the weights of a target
ROTATIONS = {3: 'rx', 4: 'ry', 5: 'rz'}


def failure_status(search: 'Search') -> Status:
    """Return the status of a search that has no accepted solution."""
    best = search.best
    if search.budget.cancelled():
        return Status.PREEMPTED
    if search.best_approximate is not None:
        return Status.APPROXIMATE
    if search.conflict:
        return Status.GOAL_CONSTRAINTS_VIOLATED
    if best is not None and best.report.touches:
        return Status.GOAL_IN_COLLISION
    if search.ended is None or best is not None and (
            best.attempt.exit_flag is ExitFlag.TIME_LIMIT and not search.out_of_reach):
        return Status.TIMED_OUT
    return Status.NO_IK_SOLUTION


def solution_field(search: 'Search', one: 'Candidate', solution: IKSolution, name: str) -> object:
    """Return the field `name` of the solution for a candidate of a search."""
    if name == 'message':
        return _message(search, one, solution)
    return _FIELDS[name](search, one) if name in _FIELDS else getattr(search, name)


def _contacts(search: 'Search', candidate: 'Candidate') -> tuple[Contact, ...]:
    checker = search.problem.checker
    if candidate.report.accepted or checker is None:
        return ()
    return deepest((*search.unavoidable, *checker.in_collision(candidate.attempt.q)))


def _message(search: 'Search', candidate: 'Candidate', solution: IKSolution) -> str:
    """Return the message of a solution: result, largest joint change, joints beyond limits."""
    travel = solution.travel
    is_answer = candidate.report.accepted or candidate is search.best_approximate
    change = f'; largest joint change {travel}' if is_answer and travel is not None else ''
    text = (_found(search) if candidate.report.accepted
            else _failed(search, candidate, solution.status))
    return text + change + _outside_limits(search)


def _travel(search: 'Search', candidate: 'Candidate') -> JointChange | None:
    return largest_change(search.problem.active.joints, search.seeds[0], candidate.attempt.q)


def _found(search: 'Search') -> str:
    tried, select = _attempts(search), search.options.select
    if select == 'first' and search.options.solutions == 1:
        return f'solution found in {tried}'
    found = counted(len(search.accepted), 'solution')
    return f'{_ADJECTIVES.get(select, select)} of {found} found in {tried}'


def _failed(search: 'Search', candidate: 'Candidate', status: Status) -> str:
    """Return the message of a failure: a proof, or violations and contacts of the best attempt."""
    if status is Status.GOAL_CONSTRAINTS_VIOLATED:
        return f'there is no solution: {search.conflict}'
    # omit contact depths, of which only a lower bound is known
    if search.unavoidable:
        at_target = 'at this target, ' if search.problem.targets else ''
        return ('there is no solution without contact: '
                + '; '.join(f"'{contact.first}' touches '{contact.second}'"
                            for contact in search.unavoidable)
                + f'; {at_target}no joint that may move can separate them. Use another '
                "target or seed, or allow the intended contacts (SRDF, the scene's `allowed`)")
    return _not_found(search, candidate, status)


def _not_found(search: 'Search', candidate: 'Candidate', status: Status) -> str:
    problem, bound = search.problem, search.problem.change_bound
    within = '' if bound is None else f' within max_joint_change {bound}'
    after = f'in {search.seconds:.3g} s and {_attempts(search)}'
    larger = [] if bound is None or search.out_of_reach else [
        'a larger max_joint_change may allow one']
    if status is Status.GOAL_IN_COLLISION:
        pairs = ', '.join(f"'{contact.first}' and '{contact.second}'"
                          for contact in _contacts(search, candidate)[:_MAX_NAMES])
        return '; '.join([f'no solution without contact{within} found {after}', *larger,
                          f'contacts of the best attempt: {pairs}'])
    began = {Status.PREEMPTED: f'cancelled {after}: ',
             Status.TIMED_OUT: f'not finished {after}: ',
             Status.APPROXIMATE: f'only an approximate solution found {after}: '}.get(
                 status, f'no solution{within} found {after}: ')
    axes = '' if search.out_of_reach else _axes_to_free(problem, candidate.attempt.q)
    return began + '; '.join([
        *(f'violated: {violation}' for violation in candidate.report.violations),
        *search.out_of_reach, *([axes] if axes else []), *larger])


def redundancy(problem: IKProblem) -> float:
    """
    Return the number of active columns minus the number of target rows with a weight above 0.

    Infinite unless the problem has targets only.
    """
    if problem.kinds != {'targets'}:
        return math.inf
    return len(problem.active.columns) - sum(int(one.counted.sum()) for one in problem.targets)


def _axes_to_free(problem: IKProblem, q: Array) -> str:
    """
    Return a sentence that names rotation axes to free so that the target can be reached, or ''.

    Short searches from q (nq,) free each axis, each pair, then all three; they ignore contacts.
    """
    if redundancy(problem) >= 0 or len(problem.targets) != 1:
        return ''
    target, = problem.targets
    counted = [axis for axis in ROTATIONS if target.counted[axis]]
    for axes in chain.from_iterable(combinations(counted, count) for count in (1, 2, 3)):
        weights = target.weights.copy()
        weights[list(axes)] = 0.0
        if not weights.any():
            break
        relaxed = problem.replaced(targets=[target.replaced(weights=weights)])
        starts = Starts(q, 0, N_NEAR + TRIAL_RESTARTS, np.zeros(1, dtype=np.int64))
        budget = Budget(iterations=TRIAL_ITERATIONS)
        end, *_ = make_solver('lm', relaxed, {}).find(relaxed, starts, budget)
        if not accept(relaxed, end.q).violations:
            names = ' and '.join(ROTATIONS[axis] for axis in axes)
            numbers = ' '.join(f'{weight:g}' for weight in weights)
            return (f'{len(problem.active.columns)} joints cannot reach all axes of most targets; '
                    f'with {names} free (weights {numbers}) they reach this one')
    return ''


def _attempts(search: 'Search') -> str:
    return counted(search.attempts, 'attempt')


def _outside_limits(search: 'Search') -> str:
    """Return a clause that names the joints outside their limits in the seed, or ''."""
    problem, robot = search.problem, search.problem.robot
    start = problem.locked(search.seeds[0])
    if not problem.joint_limits or are_within.run(start, robot.lower, robot.upper,
                                                  LIMIT_TOLERANCE):
        return ''
    found = [joint for joint in robot.joints if not joint.lower - LIMIT_TOLERANCE
             <= start[joint.index] <= joint.upper + LIMIT_TOLERANCE]
    names = ', '.join(f"'{joint.name}' at {start[joint.index]:.6g} (limits {joint.lower:.6g} .. "
                      f'{joint.upper:.6g})' for joint in found[:_MAX_NAMES])
    more = f' and {len(found) - _MAX_NAMES} more' if len(found) > _MAX_NAMES else ''
    return f'; outside the limits in the seed: {names}{more}'


# fields of a solution that are functions of the search and a candidate; `_message` computes the
# message, and the other lazy fields are attributes of the search
_FIELDS: dict[str, Callable[[Any, Any], object]] = {
    'best_joints': lambda search, one: search.problem.robot.to_joints(one.attempt.q,
                                                                      include_mimic=True),
    'errors': lambda search, one: one.report.errors,
    'violations': lambda search, one: one.report.violations,
    'costs': lambda search, one: tuple((cost.name, value) for cost, value in zip(
        search.problem.costs, one.report.costs, strict=False)),
    'contacts': _contacts,
    'restarts': lambda search, one: max(0, search.attempts - len(search.seeds)),
    'exit_flag': lambda search, one: one.attempt.exit_flag,
    'impossible': lambda search, one: not one.report.accepted and bool(
        search.is_infeasible or search.out_of_reach),
    'travel': _travel,
    'not_checked': lambda search, one: search.problem.not_checked}
