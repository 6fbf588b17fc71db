"""The compiled form of Levenberg-Marquardt, for problems it knows."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.kernels import kernel
from ros2_ik.core.kernels.chains import Chain, chain_to
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.solvers.pose_rows import stacked_weights

# starts (k, n), moved in place; most iterations of one and of all -> squared error, exit flag and
# row of the best, iterations and rows used
Descent: TypeAlias = Callable[[Array, int, int], tuple[float, int, int, int, int]]


def compiled_descent(problem: IKProblem, damping: float, give_up_after: int, drop: float,
                     share: float) -> Descent | None:
    """
    Prepare the compiled descent for a problem.

    None before `load_kernels()`, and where a joint of several numbers moves a tip or a target's
    frame moves: plain Python does those.
    """
    descend = kernel('pose_descent')
    if descend is None or not all(target.relative_to is None for target in problem.targets):
        return None
    found = [chain_to(problem.robot, target.tip, problem.joint_names, problem.start)
             for target in problem.targets]
    chains = [chain for chain in found if chain is not None]
    if len(chains) < len(found):
        return None
    targets = np.array([target.function.reference.homogeneous for target in problem.targets])
    whole = np.array([target.whole for target in problem.targets])
    weights = np.zeros((len(targets), 6))
    weights[np.array([target.counted for target in problem.targets])] = stacked_weights(problem)
    bounds = np.array([((share * target.position_tolerance)**2,
                        (share * target.orientation_tolerance)**2) for target in problem.targets])
    arrays = (*_joined(chains), targets, whole, weights, bounds, problem.free.lower,
              problem.free.upper)

    def run(starts: Array, limit: int, most: int) -> tuple[float, int, int, int, int]:
        found: tuple[float, int, int, int, int] = descend(starts, *arrays, damping, limit, most,
                                                          give_up_after, drop)
        return found
    return run


def _joined(chains: list[Chain]) -> tuple[Array, ...]:
    if len(chains) == 1:
        *parts, after = chains[0]
        return (*parts, np.array([0, len(parts[0])]), after[None])
    *joined, after = (np.concatenate([chain[i] for chain in chains]) for i in range(6))
    first = np.cumsum([0, *(len(chain.column) for chain in chains)])
    return (*joined, first, after.reshape(-1, 4, 4))
