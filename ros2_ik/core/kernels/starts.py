"""Numbered starts of descents: 0 is the seed, then some near it, then random ones."""

import numpy as np

from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.kernels.source import inner_part, loop, part

NEAR = 0.5       # a joint that changes by more moves far [rad, m]
# SIZES[k - 1] is the largest change of the seed in start k [rad, m]; start 1 is the seed itself
SIZES = (0.0, 0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5)
N_NEAR = len(SIZES)
# rows of the arrays of a search: the seed, limits (2), limits to draw from (2), the best end, the
# start at hand, limits near the seed (2)
SEED, LIMITS, SAMPLING, X, TRIAL, NARROW = 0, 1, 3, 5, 6, 7
ROWS_OF_VALUES = 9

# a linear congruential generator modulo 2^62 (Knuth, MMIX), whose output is mixed; the masks keep
# the signed integers positive
_FACTOR, _ADDEND, _MASK = 6364136223846793005, 1442695040888963407, 2**62 - 1
_MIX = 2685821657736338717      # of xorshift64* (Vigna, ACM TOMS 2016)


@inner_part
def uniform(state):
    """Return a number in [0, 1); the generator's `state` (1,) moves on."""
    x = (int(state[0]) * _FACTOR + _ADDEND) & _MASK
    state[0] = x
    x ^= x >> 29
    x = (x * _MIX) & _MASK
    return ((x ^ (x >> 32)) >> 9) * 2.0**-53


@part
def gather(own, seed, ranges, indices, mine):
    """
    Fill rows SEED to SAMPLING and NARROW of `own` (9, k) for the moving values numbered in `mine`.

    `indices` (n,) are the places of all moving values in the seed (nq,), `ranges` (4, n) their
    limits, and the limits to draw from.
    """
    for j in range(len(mine)):
        i = mine[j]
        own[SEED, j] = seed[indices[i]]
        for row in range(4):
            own[LIMITS + row, j] = ranges[row, i]
        within = min(max(own[SEED, j], ranges[0, i]), ranges[1, i])
        own[NARROW, j] = max(ranges[0, i], within - NEAR)
        own[NARROW + 1, j] = min(ranges[1, i], within + NEAR)


@part
def draw_start(k, state, own, bases):
    """
    Fill own[TRIAL] with start k: the seed, N_NEAR starts near it, then random ones.

    Random ones are uniform within limits; where there are none, within pi of the seed; where there
    is one, within a turn of that. Floating joints, whose seven values begin at `bases`, stay
    in starts near the seed; random ones are within a metre of it, at any orientation.
    """
    for j in range(own.shape[1]):
        seed, low, high = own[SEED, j], own[SAMPLING, j], own[SAMPLING + 1, j]
        if k <= N_NEAR:
            row = LIMITS if k == 0 else NARROW
            change = SIZES[k - 1] * (2 * uniform(state) - 1) if k > 1 else 0.0
            own[TRIAL, j] = min(max(seed + change, own[row, j]), own[row + 1, j])
            continue
        if low == -np.inf:
            low = seed - np.pi if high == np.inf else high - TURN
        if high == np.inf:
            high = seed + np.pi if own[SAMPLING, j] == -np.inf else low + TURN
        low, high = max(low, own[LIMITS, j]), min(high, own[LIMITS + 1, j])
        own[TRIAL, j] = low + (high - low) * uniform(state)
    for first in bases:
        if k <= N_NEAR:
            for i in range(first, first + 7):
                own[TRIAL, i] = own[SEED, i]
        else:
            draw_base(state, own, first)


@part
def draw_base(state, own, first):
    """Fill seven values of own[TRIAL]: within a metre of the seed, at any orientation."""
    for i in range(first, first + 3):
        own[TRIAL, i] = own[SEED, i] + 2 * uniform(state) - 1
    # uniform on the sphere of quaternions (Shoemake, Graphics Gems III, 1992)
    share, a, b = uniform(state), TURN * uniform(state), TURN * uniform(state)
    one, other = np.sqrt(1 - share), np.sqrt(share)
    own[TRIAL, first + 3], own[TRIAL, first + 4] = one * np.sin(a), one * np.cos(a)
    own[TRIAL, first + 5], own[TRIAL, first + 6] = other * np.sin(b), other * np.cos(b)


@loop('void(f8[::1], f8[:,::1], i8[::1], i8[::1], i8, i8[::1], f8[:,::1])')
def draw_starts(seed, ranges, indices, bases, first, state, starts):
    """Fill `starts` (count, n) with the starts from number `first` on; see `draw_start`."""
    own = np.empty((ROWS_OF_VALUES, len(indices)))
    gather(own, seed, ranges, indices, np.arange(len(indices)))
    for row in range(len(starts)):
        draw_start(first + row, state, own, bases)
        starts[row] = own[TRIAL]
