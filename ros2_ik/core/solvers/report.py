"""What a search says in the end: status, message, and the fields of a solution."""

from collections import Counter
from collections.abc import Callable, Iterable
import time
from typing import Any, TYPE_CHECKING

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision import Contact
from ros2_ik.core.collision.contacts import deepest
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.robot import LIMIT_TOLERANCE, Robot
from ros2_ik.core.robot.srdf import sorted_pair
from ros2_ik.core.solvers.too_few_joints import axes_to_free
from ros2_ik.core.status import ExitFlag, Status

if TYPE_CHECKING:
    from ros2_ik.core.solvers.search import Candidate, Search

_WHICH = {'cost': 'cheapest', 'manipulability': 'most manipulable'}
_NAMED = 3      # so many joints in one message
_PATIENCE = 0.05    # for contacts of several answers [s]


def failure_status(search: 'Search') -> Status:
    """Return why there is no accepted answer."""
    best = search.best
    if search.near_enough is not None:
        return Status.APPROXIMATE
    if search.budget.cancelled():
        return Status.PREEMPTED
    if search.conflict:
        return Status.GOAL_CONSTRAINTS_VIOLATED
    if best is not None and best.verdict.touches:
        return Status.GOAL_IN_COLLISION
    if search.ended is None or best is not None and (
            best.attempt.exit_flag is ExitFlag.TIME_LIMIT and not search.out_of_reach):
        return Status.TIMED_OUT
    return Status.NO_IK_SOLUTION


def solution_field(search: 'Search', candidate: 'Candidate', status: Status, name: str) -> Any:
    """Return a field of the solution of a status where a search judged a candidate."""
    if name == 'message':
        return _message(search, candidate, status)
    return _FIELDS[name](search, candidate)


def _contacts(search: 'Search', candidate: 'Candidate') -> tuple[Contact, ...]:
    checker = search.problem.checker
    if candidate.verdict.accepted or checker is None:
        return ()
    return deepest((*search.tip_contacts,
                    *checker.in_collision(candidate.attempt.q, at_once=True)))


def _message(search: 'Search', candidate: 'Candidate', status: Status) -> str:
    """Write one sentence for a person."""
    problem, travel = search.problem, search.travel(candidate.attempt.q)
    is_answer = candidate.verdict.accepted or candidate is search.near_enough
    change = f'; largest joint change {travel}' if is_answer and travel is not None else ''
    text = (_found(search) if candidate.verdict.accepted
            else _failed(search, candidate, status))
    return text + change + _held_outside(problem) + _seed_outside(search)


def _found(search: 'Search') -> str:
    tried, select = _attempts(search), search.options.select
    if select == 'first' and search.options.solutions == 1:
        return f'solution found in {tried}'
    count = len(search.accepted)
    return (f'{_WHICH.get(select, select)} of {count} solution{"s" * (count != 1)} found in '
            f'{tried}')


def _failed(search: 'Search', candidate: 'Candidate', status: Status) -> str:
    """Say what does not hold, and by how much."""
    problem = search.problem
    if status is Status.GOAL_CONSTRAINTS_VIOLATED:
        return f'there is no solution: {search.conflict}'
    if search.tip_contacts:    # of which only a lower bound of the depth is known
        pairs = [(contact.first, contact.second) for contact in search.tip_contacts]
        return ('there is no solution without contact: at its target '
                + '; '.join(f"'{first}' touches '{second}'" for first, second in pairs)
                + _adjacent_hint(problem.robot, pairs))
    if search.lasting_contacts:
        return ('there is no solution without contact: no joint that may move parts '
                + '; '.join(str(contact) for contact in search.lasting_contacts)
                + '; allow what is meant to touch (SRDF, Scene.allow)')
    after = f'in {search.seconds:.3g} s and {_attempts(search)}'
    if status is Status.GOAL_IN_COLLISION:
        known = (f'all {search.all_touch} solutions that were found again and again touch; '
                 if search.all_touch else '')
        return f'no solution without contact found {after}; {known}{_blocked(search)}'
    return _not_found(search, candidate, status, after)


def _not_found(search: 'Search', candidate: 'Candidate', status: Status, after: str) -> str:
    problem, bound = search.problem, search.problem.change_bound
    within = '' if bound is None else f' within max_joint_change {bound}'
    began = {Status.PREEMPTED: f'cancelled {after}: ',
             Status.TIMED_OUT: f'not finished {after}: ',
             Status.APPROXIMATE: f'only an approximate solution found {after}: '}.get(
                 status, f'no solution{within} found {after}: ')
    axes = '' if search.out_of_reach else axes_to_free(problem, candidate.attempt.q)
    return began + '; '.join([
        _violated(problem, candidate), *search.out_of_reach, *([axes] if axes else []),
        *(['a larger max_joint_change may have one'] if within and not search.out_of_reach
          else [])])


def _violated(problem: IKProblem, candidate: 'Candidate') -> str:
    """Return what does not hold, targets first."""
    verdict = candidate.verdict
    if not any(violation.kind == 'target' for violation in verdict.violations):
        return '; '.join(f'violated: {violation}' for violation in verdict.violations)
    return '; '.join(
        f"'{error.tip}' stays {error.position:.3g} m and {error.orientation:.3g} rad from "
        f'its target (allowed {target.position_tolerance:.3g} m and '
        f'{target.orientation_tolerance:.3g} rad)'
        for error, target in zip(verdict.errors, problem.targets, strict=False))


def _attempts(search: 'Search') -> str:
    return f'{search.attempts} attempt{"s" * (search.attempts != 1)}'


def _held_outside(problem: IKProblem) -> str:
    """Name the joints that do not move and stand outside their limits: a robot may stand there."""
    held = problem.active.held
    if not held:
        return ''
    q = problem.start.tolist()
    outside = {i for i, lower, upper in held if not lower <= q[i] <= upper}
    if not outside:
        return ''
    joints = [joint for joint in problem.robot.joints if joint.index in outside]
    texts = [f"'{joint.name}' at {q[joint.index]:.6g} (limits {joint.lower:.6g} .. "
             f'{joint.upper:.6g})' for joint in joints[:_NAMED]]
    more = f' and {len(joints) - _NAMED} more' if len(joints) > _NAMED else ''
    whose = 'its' if len(joints) == 1 else 'their'
    return f'; held outside {whose} limits: {", ".join(texts)}{more}'


def _seed_outside(search: 'Search') -> str:
    """Name the joints whose value in the first seed was changed to one within their limits."""
    problem, seed = search.problem, search.seeds[0]
    given = problem.within_limits(seed)
    moved = [f"'{joint.name}' at {seed[joint.index]:.6g}" + (' rad' if joint.rotary else ' m')
             for joint in problem.active.joints if joint.is_scalar
             and abs(given[joint.index] - seed[joint.index]) > LIMIT_TOLERANCE]
    if not moved:
        return ''
    more = f' and {len(moved) - _NAMED} more' if len(moved) > _NAMED else ''
    return (f'; the seed had {", ".join(moved[:_NAMED])}{more}, outside the limits; the search '
            'started within them')


def _blocked(search: 'Search') -> str:
    """Name the pairs that touch most often in what was found, as far as there is time to look."""
    pairs, end = Counter[tuple[str, str]](), time.monotonic() + _PATIENCE
    checker = search.problem.checker
    assert checker is not None
    for q in search.touching:
        pairs.update((contact.first, contact.second)
                     for contact in checker.in_collision(q, at_once=True))
        if time.monotonic() >= end:
            break
    often = [pair for pair, _ in pairs.most_common(3)]
    names = ', '.join(f"'{first}' and '{second}'" for first, second in often)
    return f'in what was found these touch: {names}{_adjacent_hint(checker.robot, often)}'


def _adjacent_hint(robot: Robot, pairs: Iterable[tuple[str, str]]) -> str:
    """Tell how to turn off the check of two links that a joint connects, if they are a pair."""
    connected = {sorted_pair(joint.parent, joint.child) for joint in robot.tree.joints.values()}
    return next((f"; '{first}' and '{second}' are adjacent links: an SRDF entry "
                 '(disable_collisions, reason Adjacent) turns the check of the pair off'
                 for first, second in pairs if sorted_pair(first, second) in connected), '')


def joints_at_limits(problem: IKProblem, q: Array) -> tuple[str, ...]:
    """Name the moving joints that stand at one of their limits."""
    return tuple(joint.name for joint in problem.active.joints if joint.is_scalar
                 and not joint.lower + 1e-6 < q[joint.index] < joint.upper - 1e-6)


# how each field of a solution follows from a search and a candidate
_FIELDS: dict[str, Callable[[Any, Any], Any]] = {
    'best_joints': lambda search, one: search.problem.robot.to_joints(one.attempt.q,
                                                                      include_mimic=True),
    'errors': lambda search, one: one.verdict.errors,
    'violations': lambda search, one: one.verdict.violations,
    'costs': lambda search, one: tuple((cost.name, value) for cost, value in zip(
        search.problem.costs, one.verdict.costs, strict=False)),
    'contacts': _contacts,
    'iterations': lambda search, one: search.iterations,
    'restarts': lambda search, one: max(0, search.attempts - len(search.seeds)),
    'seconds': lambda search, one: search.seconds,
    'solver': lambda search, one: search.solver,
    'solver_reason': lambda search, one: search.reason,
    'exit_flag': lambda search, one: one.attempt.exit_flag,
    'at_limits': lambda search, one: () if one.verdict.accepted else joints_at_limits(
        search.problem, one.attempt.q),
    'impossible': lambda search, one: not one.verdict.accepted and search.is_impossible,
    'travel': lambda search, one: search.travel(one.attempt.q),
    'not_checked': lambda search, one: search.problem.not_checked}
