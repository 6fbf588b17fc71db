"""Where descents start: the seeds, then at random; and which turn of a joint is kept."""

import math

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.problem.free_joints import TURN


class Starts:
    """Seeds brought within the limits, and uniform random starts; joints that are locked stay."""

    def __init__(self, problem: IKProblem, seed: Array) -> None:
        self._problem, self._seed = problem, seed
        self._single = np.array([j.index + i for j in problem.free.joints if j.kind != 'floating'
                                 for i in range(j.size)], dtype=np.intp)
        self._low, high = (limit[self._single] for limit in problem.robot.sampling_limits(seed))
        self._span = high - self._low
        self._floating = [j for j in problem.free.joints if j.kind == 'floating']

    def random(self, generator: np.random.Generator) -> Array:
        """
        Draw a start (nq,) uniformly within the limits.

        A joint without limits is drawn within pi of the seed, a floating one within a metre of
        it at any orientation.
        """
        q = self._problem.start.copy()
        q[self._single] = self._low + self._span * generator.random(len(self._single))
        for joint in self._floating:
            place = slice(joint.index, joint.index + 3)
            q[place] = self._seed[place] + generator.uniform(-1, 1, 3)
            quaternion = generator.normal(size=4)
            q[joint.index + 3:joint.index + 7] = quaternion / np.linalg.norm(quaternion)
        return q


def within_limits(problem: IKProblem, seed: Array) -> Array:
    """Give a seed (nq,) with moving joints brought within their limits and the others locked."""
    return problem.locked(np.minimum(np.maximum(seed, problem.lower), problem.upper))


def chosen_turns(problem: IKProblem, q: Array, seed: Array, turns: str = 'seed') -> Array:
    """
    Give q (nq,) with full turns added or taken away within the limits.

    Of all turns of a joint that mean the same place the one nearest the seed is kept, or with
    `turns` 'lower' the one nearest the joint's lower limit, where there is one.
    """
    indices = problem.turnable
    if not indices.size or not math.isfinite(q @ q):    # acceptance refuses the latter
        return q
    angle = q[indices]
    wanted = np.round((seed[indices] - angle) / TURN)
    # q itself is within the limits, up to rounding: 0 must stay possible
    least = np.minimum(np.ceil((problem.lower[indices] - angle) / TURN), 0)
    most = np.maximum(np.floor((problem.upper[indices] - angle) / TURN), 0)
    if turns == 'lower':
        wanted = np.where(np.isfinite(least), least, wanted)
    if not wanted.any():
        return q
    result = q.copy()
    result[indices] += TURN * np.clip(wanted, least, most)
    return result
