"""What a search says in the end: status, message and solution."""

from collections import Counter
from typing import Any

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import ExitFlag, IKProblem, Status, Verdict

_WHICH = {'cost': 'cheapest', 'manipulability': 'most manipulable'}
_NAMED = 3      # so many joints in one message


def failure_status(search: Any) -> Status:
    """Say why there is no accepted answer."""
    best = search.best
    if _is_near_enough(search):
        return Status.APPROXIMATE
    if search.budget.cancelled():
        return Status.PREEMPTED
    if search.conflict:
        return Status.GOAL_CONSTRAINTS_VIOLATED
    if best is not None and best.verdict.touches and not best.verdict.violations:
        return Status.GOAL_IN_COLLISION
    if not search.finished or (best is not None and
                               search.last_flag is best.attempt.exit_flag is ExitFlag.TIME_LIMIT):
        return Status.TIMED_OUT    # the clock cut off the best attempt of all
    return Status.NO_IK_SOLUTION


def _is_near_enough(search: Any) -> bool:
    """Whether the best candidate will do as the approximate answer that was asked for."""
    if search.approximate is None or search.best is None or search.best.verdict.touches:
        return False
    most = dict(zip(('m', 'rad'), search.approximate.tolist(), strict=True))
    return all(violation.kind != 'joint' and violation.amount <= most.get(violation.unit, 0.0)
               for violation in search.best.verdict.violations)


def is_impossible(search: Any) -> bool:
    """Whether it was shown that there is no answer."""
    return bool(search.hopeless or search.out_of_reach)


def message(search: Any, status: Status, verdict: Verdict, seconds: float) -> str:
    """Write one sentence for a person."""
    return _what_came(search, status, verdict, seconds) + _held_outside(search.problem)


def _held_outside(problem: IKProblem) -> str:
    """Name the joints that do not move and stand outside their limits: a robot may stand there."""
    q, (lower, upper) = problem.start, problem.free.held_bounds
    outside = (q < lower) | (q > upper)
    if not outside.any():
        return ''
    joints = [joint for joint in problem.robot.joints if outside[joint.index]]
    texts = [f"'{joint.name}' at {q[joint.index]:.6g} (limits {joint.lower:.6g} .. "
             f'{joint.upper:.6g})' for joint in joints[:_NAMED]]
    more = f' and {len(joints) - _NAMED} more' if len(joints) > _NAMED else ''
    whose = 'its' if len(joints) == 1 else 'their'
    return f'; held outside {whose} limits: {", ".join(texts)}{more}'


def _what_came(search: Any, status: Status, verdict: Verdict, seconds: float) -> str:
    tried = f'{search.attempts} attempt{"s" * (search.attempts != 1)}'
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
        return f'no solution without contact found {after}; {_blocked(search)}'
    return {Status.PREEMPTED: f'cancelled {after}: ',
            Status.APPROXIMATE: f'only an approximate solution found {after}: ',
            Status.TIMED_OUT: f'the time ran out {after} while the error still shrank: ',
            }.get(status, f'no solution found {after}: ') + '; '.join(
                [_off(verdict), *search.out_of_reach])


def _blocked(search: Any) -> str:
    """Name the pairs that touch most often in what was found."""
    pairs = Counter((contact.first, contact.second) for q in search.touching
                    for contact in search.problem.checker.in_collision(q))
    names = [f"'{first}' and '{second}'" for (first, second), _ in pairs.most_common(3)]
    return f'in what was found these touch: {", ".join(names)}'


def _off(verdict: Verdict) -> str:
    """Say what does not hold, targets first."""
    parts = [f"'{error.tip}' stays {error.position:.3g} m and {error.orientation:.3g} rad from "
             'its target' for error in verdict.errors]
    if not any(violation.kind == 'target' for violation in verdict.violations):
        parts = [f'violated: {violation}' for violation in verdict.violations]
    return '; '.join(parts)


def named_costs(problem: IKProblem, verdict: Verdict) -> tuple[tuple[str, float], ...]:
    """Give name and value of each cost."""
    return tuple((cost.name, value)
                 for cost, value in zip(problem.costs, verdict.costs, strict=False))


def joints_at_limits(problem: IKProblem, q: Array) -> tuple[str, ...]:
    """Name the moving joints that stand at one of their limits."""
    return tuple(joint.name for joint in problem.free.joints if joint.single
                 and not joint.lower + 1e-6 < q[joint.index] < joint.upper - 1e-6)
