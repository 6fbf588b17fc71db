"""Where descents start, and which turn of a joint is kept."""

from collections.abc import Mapping
from functools import cached_property
import os
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import are_finite
from ros2_ik.core.kernels import starts as kernel
from ros2_ik.core.kernels.comparisons import choose_turns
from ros2_ik.core.kernels.pose_search import CLOSE
from ros2_ik.core.problem import IKProblem, JointChangeBound
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers.clearance import Clearance
from ros2_ik.core.solvers.solver import make_solver, Starts

N_NEAR = kernel.N_NEAR


def generator_state(random_state: Any) -> Indices:
    """Return the state (1,) for a number or a numpy Generator, by default the process's own."""
    if random_state is None:
        return _own
    if isinstance(random_state, np.random.Generator):
        random_state = random_state.integers(2**62)
    return np.array([int(random_state) % 2**62], dtype=np.int64)


def _reseed() -> None:
    _own[0] = int.from_bytes(os.urandom(8), 'little') >> 2


_own = np.zeros(1, dtype=np.int64)
_reseed()
os.register_at_fork(after_in_child=_reseed)


def draw_starts(problem: IKProblem, starts: Starts) -> Array:
    """Draw starts (k, nq)."""
    active = problem.active
    x = np.empty((starts.last - starts.first + 1, len(active.indices)))
    kernel.draw_starts.run(np.array(starts.seed), active.ranges, active.indices, active.bases,
                           starts.first, starts.state, x)
    q = np.tile(problem.start, (len(x), 1))
    q[:, active.indices] = x
    return q


def within_limits(problem: IKProblem, seed: Array) -> Array:
    """Return a seed (nq,) with moving joints brought within their limits and the others locked."""
    return problem.locked(np.minimum(np.maximum(seed, problem.lower), problem.upper))


def chosen_turns(problem: IKProblem, q: Array, seed: Array, winding: str = 'seed') -> Array:
    """
    Return q (nq,) with full turns added or taken away within the limits.

    Of all turns of a joint that mean the same place the one nearest the seed is kept, or with
    `winding` 'lower' the one nearest the joint's lower limit, where there is one.
    """
    indices = problem.turnable
    if not indices.size or not are_finite(q):    # acceptance refuses the latter
        return q
    result = q.copy()
    choose_turns.run(result, indices, seed[indices], problem.lower[indices],
                     problem.upper[indices], winding == 'lower')
    return result


def is_close(problem: IKProblem, seed: Array) -> bool:
    """
    Return whether tips are so near their targets that an answer near the seed is expected.

    Not where there are costs: these say which of the answers is wanted.
    """
    if not problem.targets or problem.costs or problem.runs_user_code:
        return False
    at = Configuration.of_checked(problem.robot, seed, problem.robot.scratch_data(),
                                  pin.forwardKinematics)
    return all(position <= CLOSE[0] and orientation <= CLOSE[1] for position, orientation
               in (target.errors(at) for target in problem.targets))


class LocalSearch:
    """
    A problem whose joints change by at most NEAR, with a solver of its own.

    The limits of the joints are narrowed to that, so a descent cannot leave it, and neither can
    what moves an answer out of contact.
    """

    def __init__(self, problem: IKProblem, seed: Array, solver: str,
                 options: Mapping[str, Any]) -> None:
        robot, seed = problem.robot, within_limits(problem, seed)
        bound = JointChangeBound.of(robot, seed, kernel.NEAR).both(robot, problem.change_bound)
        self.problem = problem.bounded(bound)
        self.solver = make_solver(solver, self.problem, dict(options))

    @cached_property
    def clearance(self) -> Clearance:
        """Ways out of contact near the seed."""
        assert self.problem.checker is not None
        return Clearance(self.problem, self.problem.checker, restarts=False)
