"""What a search says in the end: status, message and solution."""

from collections import Counter
import math
import time
from typing import Any

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import AcceptanceReport, IKProblem, JointChange
from ros2_ik.core.status import Status

_WHICH = {'cost': 'cheapest', 'manipulability': 'most manipulable'}
_NAMED = 3      # so many joints in one message
LOOKING = 0.05  # s, for what touches in several answers


def failure_status(search: Any) -> Status:
    """Return why there is no accepted answer."""
    best = search.best
    if search.near_enough is not None:
        return Status.APPROXIMATE
    if search.budget.cancelled():
        return Status.PREEMPTED
    if search.conflict:
        return Status.GOAL_CONSTRAINTS_VIOLATED
    if best is not None and best.verdict.touches and not best.verdict.violations:
        return Status.GOAL_IN_COLLISION
    if not search.finished or (search.still_shrank and not search.out_of_reach):
        return Status.TIMED_OUT    # the clock cut off the best attempt of all
    return Status.NO_IK_SOLUTION


def is_near_enough(search: Any, candidate: Any) -> bool:
    """
    Return whether a candidate will do as the approximate answer that was asked for.

    The errors of each target are compared with what was asked, not what exceeds the tolerances.
    """
    most = dict(zip(('m', 'rad'), search.approximate.tolist(), strict=True))
    for violation in candidate.verdict.violations:
        off = violation.value if violation.kind == 'target' else violation.amount
        if violation.kind == 'joint' or not off <= most.get(violation.unit, 0.0):
            return False
    checker = search.problem.checker
    return checker is None or not checker.collides(candidate.attempt.q)


def is_impossible(search: Any) -> bool:
    """Return whether it was shown that there is no answer."""
    return bool(search.hopeless or search.out_of_reach)


def message(search: Any, status: Status, verdict: AcceptanceReport, seconds: float,
            travel: JointChange | None) -> str:
    """Write one sentence for a person."""
    text = _what_came(search, status, verdict, seconds)
    return _with_travel(text, search.problem, travel if status in (
        Status.SUCCESS, Status.APPROXIMATE) else None)


def found_in(problem: IKProblem, attempts: int, travel: JointChange | None) -> str:
    """Write that sentence for the first answer found."""
    return _with_travel(f'solution found in {_attempts(attempts)}', problem, travel)


def _with_travel(text: str, problem: IKProblem, travel: JointChange | None) -> str:
    change = '' if travel is None else f'; largest joint change {travel}'
    return f'{text}{change}{_held_outside(problem)}'


def _attempts(count: int) -> str:
    return f'{count} attempt{"s" * (count != 1)}'


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


def _what_came(search: Any, status: Status, verdict: AcceptanceReport, seconds: float) -> str:
    tried = _attempts(search.attempts)
    if status is Status.SUCCESS:
        if search.select != 'first' or search.solutions > 1:
            count = len(search.accepted)
            which = _WHICH.get(search.select, search.select)
            return f'{which} of {count} solution{"s" * (count != 1)} found in {tried}'
        return f'solution found in {tried}'
    if status is Status.GOAL_CONSTRAINTS_VIOLATED:
        return f'there is no solution: {search.conflict}'
    if search.tip_contacts:
        return ('there is no solution without contact: at its target '
                + '; '.join(str(contact) for contact in search.tip_contacts))
    after = f'in {seconds:.3g} s and {tried}'
    if status is Status.GOAL_IN_COLLISION:
        known = (f'all {search.all_touch} solutions that were found again and again touch; '
                 if search.all_touch else '')
        return f'no solution without contact found {after}; {known}{_blocked(search)}'
    within = ('' if search.problem.change_bound is None
              else f' within max_joint_change {search.problem.change_bound}')
    began = {Status.PREEMPTED: f'cancelled {after}: ',
             Status.APPROXIMATE: f'only an approximate solution found {after}: ',
             Status.TIMED_OUT: f'the time ran out {after} while the error still shrank: '
             if search.still_shrank and search.finished else f'not finished {after}: ',
             }.get(status, f'no solution{within} found {after}: ')
    beyond = _beyond(search)
    inside = 'within that, ' if beyond else ''
    return began + '; '.join([*beyond, inside + _off(search.problem, verdict),
                              *search.out_of_reach])


def _beyond(search: Any) -> list[str]:
    """Return which joint would have to move by more than allowed."""
    change, bound = search.beyond, search.problem.change_bound
    if change is None:
        return []
    return [f"in an answer beyond it joint '{change.joint}' would change by {change.change:.4g} "
            f'{change.unit}, max_joint_change allows {bound.most[change.joint]:.4g} '
            f'{change.unit}: max_joint_change {enough(change.change)} would do']


def enough(change: float) -> str:
    """Return a bound, with two digits, that allows a change."""
    digits = 1 - math.floor(math.log10(change)) if change > 0 else 0
    return f'{math.ceil(change * 10**digits) / 10**digits:.2g}'


def _blocked(search: Any) -> str:
    """Name the pairs that touch most often in what was found, as far as there is time to look."""
    pairs, end = Counter[tuple[str, str]](), time.monotonic() + LOOKING
    for q in search.touching:
        pairs.update((contact.first, contact.second)
                     for contact in search.problem.checker.in_collision(q, at_once=True))
        if time.monotonic() >= end:
            break
    names = [f"'{first}' and '{second}'" for (first, second), _ in pairs.most_common(3)]
    return f'in what was found these touch: {", ".join(names)}'


def _off(problem: IKProblem, verdict: AcceptanceReport) -> str:
    """Return what does not hold, targets first."""
    parts = [f"'{error.tip}' stays {error.position:.3g} m and {error.orientation:.3g} rad from "
             f'its target (allowed {target.position_tolerance:.3g} m and '
             f'{target.orientation_tolerance:.3g} rad)'
             for error, target in zip(verdict.errors, problem.targets, strict=False)]
    if not any(violation.kind == 'target' for violation in verdict.violations):
        parts = [f'violated: {violation}' for violation in verdict.violations]
    return '; '.join(parts)


def named_costs(problem: IKProblem, verdict: AcceptanceReport) -> tuple[tuple[str, float], ...]:
    """Return name and value of each cost."""
    return tuple((cost.name, value)
                 for cost, value in zip(problem.costs, verdict.costs, strict=False))


def joints_at_limits(problem: IKProblem, q: Array) -> tuple[str, ...]:
    """Name the moving joints that stand at one of their limits."""
    return tuple(joint.name for joint in problem.active.joints if joint.is_scalar
                 and not joint.lower + 1e-6 < q[joint.index] < joint.upper - 1e-6)
