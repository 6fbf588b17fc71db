"""Advice for robots with fewer joints than target axes: rotation axes to free."""

from itertools import combinations
import math

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import accept, IKProblem, PoseTarget
from ros2_ik.core.solvers.solver import Budget, make_solver
from ros2_ik.core.solvers.starts import generator_state, N_NEAR, Starts

# limits of the trial search with free axes, which takes a few milliseconds
RESTARTS, ITERATIONS = 20, 2000
# rotation axes by their index in the weights of a target
ROTATIONS = {3: 'rx', 4: 'ry', 5: 'rz'}


def spare_joints(problem: IKProblem) -> float:
    """
    Return the number of active columns minus the number of target rows that count.

    Infinite if the problem has constraints or costs.
    """
    if problem.kinds != {'targets'}:
        return math.inf
    return len(problem.active.columns) - sum(int(one.counted.sum()) for one in problem.targets)


def axes_to_free(problem: IKProblem, q: Array) -> str:
    """
    Return a sentence on the rotation axes to free so that the target is reached, or ''.

    Short searches from q (nq,) try each axis, then each pair of axes, then all three.
    """
    if spare_joints(problem) >= 0 or len(problem.targets) != 1:
        return ''
    target, = problem.targets
    counted = [axis for axis in ROTATIONS if target.counted[axis]]
    for count in range(1, len(counted) + 1):
        for axes in combinations(counted, count):
            weights = target.weights.copy()
            weights[list(axes)] = 0.0
            if _is_reachable(problem, target, weights, q):
                names = ' and '.join(ROTATIONS[axis] for axis in axes)
                numbers = ' '.join(f'{weight:g}' for weight in weights)
                return (f'{len(problem.active.columns)} joints cannot meet all axes of the '
                        f'target; with {names} free (weights {numbers}) they reach the target')
    return ''


def _is_reachable(problem: IKProblem, target: PoseTarget, weights: Array, q: Array) -> bool:
    """Return whether a short search reaches a target with these weights, contacts ignored."""
    eased = problem.varied(targets=[target.varied(weights=weights)])
    starts = Starts(q, 0, N_NEAR + RESTARTS, generator_state(0))
    end, *_ = make_solver('lm', eased, {}).find(eased, starts, Budget(iterations=ITERATIONS))
    return not accept(eased, end.q).violations
