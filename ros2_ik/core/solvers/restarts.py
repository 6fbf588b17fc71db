"""Where descents start: the seeds, then at random; and which turn of a joint is kept."""

from collections.abc import Sequence
import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.problem.active_joints import TURN


class Starts:
    """Seeds brought within the limits, and uniform random starts; joints that are locked stay."""

    def __init__(self, problem: IKProblem, seed: Array) -> None:
        self._problem, self._seed = problem, seed
        low, high = problem.robot.sampling_limits(seed)
        low, high = np.maximum(low, problem.lower), np.minimum(high, problem.upper)
        self._drawn = problem.active.drawn
        self._low, self._span = low[self._drawn], (high - low)[self._drawn]
        self._floating = [j for j in problem.active.joints if j.kind == 'floating']

    def random(self, generator: np.random.Generator, count: int) -> Array:
        """
        Draw starts (count, nq) uniformly within the limits.

        A joint without limits is drawn within pi of the seed, a floating one within a metre of
        it at any orientation.
        """
        q = np.tile(self._problem.start, (count, 1))
        q[:, self._drawn] = self._low + self._span * generator.random((count, len(self._drawn)))
        for joint in self._floating:
            place = slice(joint.index, joint.index + 3)
            q[:, place] = self._seed[place] + generator.uniform(-1, 1, (count, 3))
            quaternion = generator.normal(size=(count, 4))
            q[:, joint.index + 3:joint.index + 7] = quaternion / np.linalg.norm(
                quaternion, axis=1, keepdims=True)
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
    if not indices.size or not math.isfinite(q @ q):    # acceptance refuses the latter
        return q
    angle = q[indices]
    off = seed[indices] - angle
    if winding == 'seed' and off.max() <= TURN / 2 and off.min() >= -TURN / 2:
        return q
    wanted = np.round(off / TURN)
    # q itself is within the limits, up to rounding: 0 must stay possible
    least = np.minimum(np.ceil((problem.lower[indices] - angle) / TURN), 0)
    most = np.maximum(np.floor((problem.upper[indices] - angle) / TURN), 0)
    if winding == 'lower':
        wanted = np.where(np.isfinite(least), least, wanted)
    if not wanted.any():
        return q
    change, result = TURN * np.clip(wanted, least, most), q.copy()
    # the rounding of a turn must not carry it beyond a limit
    turned = np.clip(angle + change, problem.lower[indices], problem.upper[indices])
    result[indices] = np.where(change == 0, angle, turned)
    return result
