"""Descents that stay close to a seed, which come before those from random starts."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import IKProblem, JointChangeBound
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.clearance import Clearance
from ros2_ik.core.solvers.restarts import Starts, within_limits
from ros2_ik.core.solvers.solver import Attempt, make_solver

NEAR = 0.5                   # a joint that changes by more moves far [rad, m]
CLOSE = (0.25, 0.7)          # a tip this near its target at the seed should not need that [m, rad]
SIZES = (0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5)   # of the changes of the seed that are tried


def is_close(problem: IKProblem, seed: Array) -> bool:
    """Return whether tips are so near their targets that an answer near the seed is expected."""
    if not problem.targets or problem.runs_user_code:
        return False
    at = Configuration.of_checked(problem.robot, seed, problem.robot.scratch_data())
    return all(position <= CLOSE[0] and orientation <= CLOSE[1] for position, orientation
               in (target.errors(at) for target in problem.targets))


class Nearby:
    """
    A problem whose joints change by at most `NEAR`, with a solver of its own.

    The limits of the joints are narrowed to that, so a descent cannot leave it, and neither can
    what moves an answer out of contact.
    """

    def __init__(self, problem: IKProblem, seed: Array, solver: str,
                 options: Mapping[str, Any]) -> None:
        robot, seed = problem.robot, within_limits(problem, seed)
        bound = JointChangeBound.of(robot, seed, NEAR).both(robot, problem.change_bound)
        self.problem, self._seed = problem.bounded(bound), seed
        self.solver = make_solver(solver, self.problem, dict(options))
        self._clearance: Clearance | None = None

    def starts(self, generator: np.random.Generator) -> Array:
        """Return the seed and changes of it, growing in size, (k, nq)."""
        near = Starts(self.problem, self._seed).near(generator, SIZES)
        return np.vstack([self._seed, near])

    def freed(self, touching: Attempt, budget: Budget) -> Attempt | None:
        """Return an attempt near the seed and near `touching` that touches nothing, or None."""
        if self._clearance is None:
            assert self.problem.checker is not None
            self._clearance = Clearance(self.problem, self.problem.checker, self.solver,
                                        restarts=False)
        return self._clearance.freed(touching, budget)
