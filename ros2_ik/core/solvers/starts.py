"""Starts of descents, and the turns of continuous joints."""

import math
import os
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels import starts as kernel
from ros2_ik.core.kernels.comparisons import choose_turns
from ros2_ik.core.problem import IKProblem

N_NEAR = kernel.N_NEAR


class Starts(NamedTuple):
    """
    Starts `first` to `last` of a sequence: 0 is the seed, then N_NEAR near it, then random ones.

    Those near the seed are passed over where the targets are far from it.
    """

    seed: Array
    first: int
    last: int
    state: Indices      # (1,), of the generator that draws them


def generator_state(random_state: Any) -> Indices:
    """Return the state (1,) for a number or a numpy Generator."""
    if isinstance(random_state, np.random.Generator):
        random_state = random_state.integers(2**62)
    return np.array([int(random_state) % 2**62], dtype=np.int64)


def _reseed() -> None:
    OWN_STATE[0] = int.from_bytes(os.urandom(8), 'little') >> 2


OWN_STATE = np.zeros(1, dtype=np.int64)    # of the process's own generator
_reseed()
os.register_at_fork(after_in_child=_reseed)


def draw_starts(problem: IKProblem, starts: Starts) -> Array:
    """Draw starts (k, nq)."""
    active = problem.active
    x = np.empty((starts.last - starts.first + 1, len(active.indices)))
<<<<<<< HEAD
    kernel.draw_starts.run(np.array(starts.seed), active.ranges, active.indices, active.bases,
                           starts.first, starts.state, x)
    q = np.empty((len(x), len(problem.start)))
    q[:] = problem.start
    q[:, active.place] = x
=======
    kernel.draw_starts.run(np.array(starts.seed), active.ranges, active.indices,
                           active.floating_starts, starts.first, starts.state, x)
    q = np.tile(problem.start, (len(x), 1))
    q[:, active.indices] = x
>>>>>>> 07d8a612 (Reword core's problem folder and name index arrays by what they index)
    return q


def chosen_turns(problem: IKProblem, q: Array, seed: Array) -> Array:
    """
    Return q (nq,) with full turns added or taken away within the limits.

    Of all turns of a joint that mean the same place the one nearest the seed is kept.
    """
    indices = problem.angles
    if not math.isfinite(q.dot(q)):    # acceptance refuses it
        return q
    result = q.copy()
    choose_turns.run(result, indices, seed[indices], problem.lower[indices],
                     problem.upper[indices])
    return result
