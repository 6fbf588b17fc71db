"""Numbered starts of descents, and the choice of full turns."""

import math
import os
from typing import NamedTuple

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels import starts as kernel
from ros2_ik.core.kernels.comparisons import choose_turns
from ros2_ik.core.problem import IKProblem

N_NEAR = kernel.N_NEAR


class Starts(NamedTuple):
    """
    A range of numbered starts, from `first` to `last` inclusive.

    Starts 0 and 1 are the seed, starts 2 to N_NEAR are near the seed, all others are random. `lm`
    keeps descents from starts 1 to N_NEAR near the seed, and skips these starts if a tip is far
    from its target; for other solvers see `Search._first_restart`.
    """

    seed: Array
    first: int
    last: int
    # state (1,) of the random generator, advanced by each draw
    state: Indices


def generator_state(random_state: int | np.random.Generator) -> int:
    """Return the initial state of the random generator for the option `random_state`."""
    if isinstance(random_state, np.random.Generator):
        # `Generator.integers` would take ten times as long
        random_state = random_state.bit_generator.random_raw()
    return random_state % 2**62


def _reseed() -> None:
    OWN_STATE[0] = int.from_bytes(os.urandom(8), 'little') >> 2


# random generator state of this process, used if the option `random_state` is None
OWN_STATE = np.zeros(1, dtype=np.int64)
_reseed()
# a forked process would otherwise draw the same starts as its parent
os.register_at_fork(after_in_child=_reseed)


def draw_starts(problem: IKProblem, starts: Starts) -> Array:
    """Return the active values (k, n) of numbered starts."""
    active = problem.active
    x = np.empty((starts.last - starts.first + 1, len(active.indices)))
    kernel.draw_starts.run(np.array(starts.seed), active.ranges, active.indices,
                           active.floating_starts, starts.first, starts.state, x)
    return x


def nearest_turns(problem: IKProblem, q: Array, seed: Array) -> Array:
    """
    Return q (nq,) with full turns added, so that joints are nearest to the seed (nq,).

    Only joints whose full turns make no difference are changed, and only within their limits.
    """
    # leave a q that is not finite: acceptance rejects it
    if not math.isfinite(q.dot(q)):
        return q
    q = q.copy()
    choose_turns.run(q, problem.structure.full_turn_indices, seed, problem.lower, problem.upper)
    return q
