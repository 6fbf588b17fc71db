"""Reasons for a path that ends early."""

from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.path.branches import Branches
from ros2_ik.core.path.steps import Chain, pose_jacobian
from ros2_ik.core.problem import accept, IKProblem, IKSolution, largest_change
from ros2_ik.core.solvers import solve
from ros2_ik.core.status import Status

# distance from a limit below which a joint is at the limit [rad, m]
AT_LIMIT = 1e-6
# condition number of the pose Jacobian above which the arm is near a singularity
MAX_CONDITION = 100.0
# iteration limit of the search for any configuration at a pose
ITERATIONS = 3000


class Reason(NamedTuple):
    """Status, `reason` and `text` of a `PathBreak`."""

    status: Status
    reason: str
    text: str


def reason_of(branches: Branches, chain: Chain, s: float) -> Reason:
    """Return the reason why a chain, possibly empty, cannot be continued to the parameter s."""
    if branches.budget.cancelled():
        return Reason(Status.PREEMPTED, 'time', 'cancelled')
    if branches.budget.over():
        return Reason(Status.TIMED_OUT, 'time',
                      f'the timeout of {branches.options.timeout:g} s is over')
    problem, q = branches.at(s), chain[-1][1] if chain else branches.seed
    if not chain and branches.options.hold_start:
        return _start(branches.first())
    # the descent along the branch ends in contact
    end = branches.descend(s, q)
    if chain and branches.is_step(q, end) and accept(problem, end).touches:
        return _contact(problem, end)
    # is the pose reachable at all, from any start?
    found = solve(problem, [q], max_iterations=ITERATIONS, timeout=branches.left,
                  random_state=branches.options.random_state, cancel=branches.options.cancel)
    if not found.success:
        return _unreached(problem, found, q, branches)
    return _unconnected(branches, problem, q, end, found)


def _start(problem: IKProblem) -> Reason:
    """Return the reason why the seed (`hold_start`) is not accepted at the first pose."""
    verdict = accept(problem, problem.start)
    if verdict.touches:
        reason = _contact(problem, problem.start)
        return Reason(Status.START_STATE_IN_COLLISION, 'start', f'at the seed {reason.text}')
    return Reason(Status.INVALID_ROBOT_STATE, 'start', 'the seed does not meet the first pose: '
                  + '; '.join(map(str, verdict.violations)))


def _contact(problem: IKProblem, q: Array) -> Reason:
    assert problem.checker is not None
    pairs = sorted(problem.checker.touching(q))
    text = ', '.join(f"'{first}' touches '{second}'" for first, second in pairs)
    return Reason(Status.GOAL_IN_COLLISION, 'contact', text)


def _unreached(problem: IKProblem, found: IKSolution, q: Array, branches: Branches) -> Reason:
    """Return the reason why no configuration was found for a pose."""
    if found.status is Status.GOAL_IN_COLLISION:
        return _contact(problem, found.best_q)
    if problem.kinds != {'targets'}:
        return Reason(found.status, 'constraint', found.message)
    # reachable without joint limits?
    free = problem.varied(joint_limits=False, collisions=False, checker=None)
    if problem.joint_limits and solve(free, [q], max_iterations=ITERATIONS, timeout=branches.left,
                                      random_state=0, cancel=branches.options.cancel):
        names = ', '.join(f"'{name}'" for name in found.at_limits)
        return Reason(found.status, 'joint limit', 'no configuration reaches the next pose within '
                      'the joint limits' + (f'; at their limits: {names}' if names else ''))
    return Reason(found.status, 'reach',
                  f'no configuration reaches the next pose: {found.message}')


def _unconnected(branches: Branches, problem: IKProblem, q: Array, end: Array,
                 found: IKSolution) -> Reason:
    """Return the reason why no step from q (nq,) reaches a pose that is otherwise reachable."""
    limited = [joint.name for joint in problem.active.joints
               if not problem.lower[joint.index] + AT_LIMIT < end[joint.index]
               < problem.upper[joint.index] - AT_LIMIT]
    change = largest_change(problem.active, q, found.best_q)
    text = f'the nearest other configuration found is {change} away'
    if limited and not accept(problem, end).accepted:
        names = ', '.join(f"'{name}'" for name in limited)
        what = ('the limit' if problem.change_bound is None else
                'the limit, or at that of max_joint_change')
        return Reason(Status.NO_IK_SOLUTION, 'joint limit', f'{names} at {what}; {text}')
    sizes = np.linalg.svd(pose_jacobian(problem, q), compute_uv=False)
    condition = float(sizes[0] / max(sizes[-1], 1e-12))
    if condition > MAX_CONDITION:
        return Reason(Status.NO_IK_SOLUTION, 'singularity', 'the arm is near a singularity '
                      f'(condition number {condition:.3g}); {text}')
    # if the step to the other configuration is short, a contact between both prevented the step
    blocked = branches.is_step(q, found.best_q)
    return Reason(Status.NO_IK_SOLUTION, 'contact' if blocked else 'step',
                  'there is a contact on the way to the next pose' if blocked else text)
