"""Numbered starts of descents: the seed (number 0), N_NEAR starts near it, then random ones."""

import numpy as np

from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.kernels.source import inner_part, loop, part

MAX_NEAR_CHANGE = 0.5   # largest change of a joint that counts as near the seed [rad, m]
# SIZES[k - 1]: largest change of a joint in start k [rad, m]; start 1 is the seed again, but its
# descent stays within MAX_NEAR_CHANGE of the seed
SIZES = (0.0, 0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5)
N_NEAR = len(SIZES)
# rows of the table `values` of a search
(SEED,          # joint values of the seed
 LIMITS,        # lower and upper limits (2 rows)
 SAMPLE_BOUNDS,  # lower and upper bounds of random starts (2 rows)
 BEST,          # best result
 CURRENT,       # current start, which its descent overwrites with the result
 NEAR_LIMITS) = 0, 1, 3, 5, 6, 7    # lower and upper limits near the seed (2 rows)
ROWS_OF_VALUES = 9

# linear congruential generator modulo 2^62 (Knuth, MMIX) with mixed output; _MASK keeps the
# signed integers positive
_FACTOR, _ADDEND, _MASK = 6364136223846793005, 1442695040888963407, 2**62 - 1
_MIX = 2685821657736338717      # multiplier of xorshift64* (Vigna, ACM TOMS 2016)


@inner_part
def uniform(state):
    """Return a uniform random number in [0, 1) and advance the generator's `state` (1,)."""
    x = (int(state[0]) * _FACTOR + _ADDEND) & _MASK
    state[0] = x
    x ^= x >> 29
    x = (x * _MIX) & _MASK
    return ((x ^ (x >> 32)) >> 9) * 2.0**-53


@part
def init_values(values, seed, ranges, indices):
    """
    Fill the rows SEED, LIMITS, SAMPLE_BOUNDS and NEAR_LIMITS of `values` (9, n).

    `indices` (n,) are the moving values' indices in the seed (nq,). The rows of `ranges` (4, n)
    are lower and upper limits, then lower and upper bounds of random starts.
    """
    for j in range(len(indices)):
        values[SEED, j] = seed[indices[j]]
        for row in range(4):
            values[LIMITS + row, j] = ranges[row, j]
        # limits near the seed; a seed beyond a limit is treated as if at the limit
        within = min(max(values[SEED, j], ranges[0, j]), ranges[1, j])
        values[NEAR_LIMITS, j] = max(ranges[0, j], within - MAX_NEAR_CHANGE)
        values[NEAR_LIMITS + 1, j] = min(ranges[1, j], within + MAX_NEAR_CHANGE)


@part
def draw_start(k, state, values, bases):
    """
    Fill values[CURRENT] with start k: the seed, a start near it or a random one.

    Random values are uniform between the SAMPLE_BOUNDS, cut to LIMITS. A missing bound is a full
    turn from the other; without bounds, values are within pi of the seed. Starts near the seed
    keep the pose of a floating joint; random starts place it within 1 m of the seed along each
    axis, at a random orientation. `bases` are the indices at which floating joints' values begin.
    """
    for j in range(values.shape[1]):
        seed, low, high = values[SEED, j], values[SAMPLE_BOUNDS, j], values[SAMPLE_BOUNDS + 1, j]
        # the seed or near it: a random change, clamped to the limits
        if k <= N_NEAR:
            row = LIMITS if k == 0 else NEAR_LIMITS
            change = SIZES[k - 1] * (2 * uniform(state) - 1) if k > 1 else 0.0
            values[CURRENT, j] = min(max(seed + change, values[row, j]), values[row + 1, j])
            continue
        # random: replace missing limits
        if low == -np.inf:
            low = seed - np.pi if high == np.inf else high - TURN
        if high == np.inf:
            high = seed + np.pi if values[SAMPLE_BOUNDS, j] == -np.inf else low + TURN
        low, high = max(low, values[LIMITS, j]), min(high, values[LIMITS + 1, j])
        values[CURRENT, j] = low + (high - low) * uniform(state)
    for first in bases:
        if k <= N_NEAR:
            for i in range(first, first + 7):
                values[CURRENT, i] = values[SEED, i]
        else:
            draw_base(state, values, first)


@part
def draw_base(state, values, first):
    """Fill values[CURRENT] of a floating joint: within 1 m of the seed per axis, any rotation."""
    for i in range(first, first + 3):
        values[CURRENT, i] = values[SEED, i] + 2 * uniform(state) - 1
    # uniform random rotation: "Uniform random rotations", Shoemake, Graphics Gems III, 1992
    share, a, b = uniform(state), TURN * uniform(state), TURN * uniform(state)
    one, other = np.sqrt(1 - share), np.sqrt(share)
    values[CURRENT, first + 3], values[CURRENT, first + 4] = one * np.sin(a), one * np.cos(a)
    values[CURRENT, first + 5], values[CURRENT, first + 6] = other * np.sin(b), other * np.cos(b)


@loop('void(f8[::1], f8[:,::1], i8[::1], i8[::1], i8, i8[::1], f8[:,::1])')
def draw_starts(seed, ranges, indices, bases, first, state, starts):
    """Fill `starts` (k, n) with the starts numbered first to first + k - 1; see `draw_start`."""
    values = np.empty((ROWS_OF_VALUES, len(indices)))
    init_values(values, seed, ranges, indices)
    for row in range(len(starts)):
        draw_start(first + row, state, values, bases)
        starts[row] = values[CURRENT]
