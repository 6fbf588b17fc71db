"""Where descents start: the seeds, close to them, at random; and which turn of a joint is kept."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import are_finite
from ros2_ik.core.kernels.comparisons import choose_turns
from ros2_ik.core.problem import IKProblem, JointChangeBound
from ros2_ik.core.robot import Configuration, Joint
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.clearance import Clearance
from ros2_ik.core.solvers.solver import Attempt, make_solver


class Starts:
    """Seeds brought within the limits, and uniform random starts; joints that are locked stay."""

    def __init__(self, problem: IKProblem, seed: Array) -> None:
        self._problem, self._seed, self._drawn = problem, seed, problem.active.drawn
        self._floating: list[Joint] = []
        if problem.active.bounded:      # told fast
            low, high = problem.active.limits
            self._low, self._span = low, high - low
            return
        low, high = problem.robot.sampling_limits(seed)
        low, high = np.maximum(low, problem.lower), np.minimum(high, problem.upper)
        self._low, self._span = low[self._drawn], (high - low)[self._drawn]
        self._floating = [j for j in problem.active.joints if j.kind == 'floating']

    def random(self, generator: np.random.Generator, count: int) -> Array:
        """
        Draw starts (count, nq) uniformly within the limits.

        A joint without limits is drawn within pi of the seed, a floating one within a metre of
        it at any orientation.
        """
        q = self.of(generator.random((count, len(self._drawn))))
        for joint in self._floating:
            place = slice(joint.index, joint.index + 3)
            q[:, place] = self._seed[place] + generator.uniform(-1, 1, (count, 3))
            quaternion = generator.normal(size=(count, 4))
            q[:, joint.index + 3:joint.index + 7] = quaternion / np.linalg.norm(
                quaternion, axis=1, keepdims=True)
        return q

    def of(self, numbers: Array) -> Array:
        """Make starts (count, nq) of numbers (count, n) in [0, 1); floating joints stay."""
        q = np.empty((len(numbers), len(self._problem.start)))
        q[:] = self._problem.start
        q[:, self._drawn] = self._low + self._span * numbers
        return q

    def near(self, generator: np.random.Generator, sizes: Sequence[float]) -> Array:
        """
        Change the seed by up to each of `sizes` [rad, m], within the limits, (len(sizes), nq).

        Floating joints stay where the seed has them.
        """
        q = np.tile(within_limits(self._problem, self._seed), (len(sizes), 1))
        change = generator.uniform(-1, 1, (len(sizes), len(self._drawn)))
        q[:, self._drawn] = np.clip(q[:, self._drawn] + np.array(sizes)[:, None] * change,
                                    self._low, self._low + self._span)
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


# -- close to a seed, before random starts ------------------------------------------------------

NEAR = 0.5                   # a joint that changes by more moves far [rad, m]
CLOSE = (0.25, 0.7)          # a tip this near its target at the seed should not need that [m, rad]
SIZES = (0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5)   # of the changes of the seed that are tried


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
            self._clearance = Clearance(self.problem, self.problem.checker, restarts=False)
        return self._clearance.freed(touching, budget)
