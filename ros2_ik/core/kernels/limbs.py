"""Joints that move together, and how much their ways bend, so that they do not swing."""

import math

import numpy as np

from ros2_ik.core.kernels.source import inner_part, part
from ros2_ik.core.kernels.velocity_rows import (
    BEFORE,
    DAMPING,
    HARD,
    SCALED,
    SHARE,
    TARGET,
    WEIGHT,
)

SWINGS = 0.25       # part of what a step wants that its bend may be before joints are damped,
TURNS = 0.5         # and cosine of the angle by which they may turn back
FAR_BENT = 1.0      # square of how much ways bend at most where nothing is known of it
BENT = 2.0          # more than that no way bends [1/rad, 1/m],
STANDS = 1e-12      # square of a step that is too small to tell,
JUMPS = 1.0         # and of one that is no bend
FADES = 0.98        # and with each step less of it is known


@part
def fill_limbs(kinds, level, J, limb):
    """
    Fill which joints (n,) the tasks of a priority move together, by the number of one of them.

    What one limb cannot do is no reason for others to be slow. HARD is the priority of all that
    is firm.
    """
    n = J.shape[1]
    for a in range(n):
        limb[a] = a
    for i in range(len(kinds)):
        if not (kinds[i] == level or level == HARD and kinds[i] == SCALED):
            continue
        one = -1
        for a in range(n):
            if J[i, a] == 0 or limb[a] == one:
                continue
            if one < 0:
                one = limb[a]
                continue
            other = limb[a]
            for b in range(n):
                if limb[b] == other:
                    limb[b] = one


@inner_part
def limb_of(J, i, limb):
    """Return the limb of a row, 0 for a row that moves nothing."""
    for a in range(J.shape[1]):
        if J[i, a] != 0:
            return limb[a]
    return 0


@inner_part
def damps(row, kinds, level, i):
    """Return whether a row belongs to a task of a priority that is damped where it swings."""
    return (kinds[i] == level and row[SHARE, i] > 0 and row[WEIGHT, i] > 0
            and row[DAMPING, i] > 0)


@part
def swings(row, kinds, f, J, limbs, box, d):
    """
    Return whether a limb may swing over what its tasks want.

    It goes so far for it that its bent way may miss that, or goes back where it came from.
    """
    n = len(d)
    gone, wanted, turned, before = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for level in range(len(limbs)):
        sums_of_limbs(row, kinds, level, f, J, limbs[level], box, d, gone, wanted, turned, before)
        for a in range(n):
            if wanted[a] > 0 and (FAR_BENT * gone[a] * gone[a] > wanted[a]
                                  or turned[a] < -TURNS * math.sqrt(gone[a] * before[a])):
                return True
    return False


@part
def sums_of_limbs(row, kinds, level, f, J, limb, box, d, gone, wanted, turned, before):
    """Fill |d|^2, |steps wanted|^2, d v and |v|^2 of limbs (n,), with v the velocity before."""
    gone[:], wanted[:], turned[:], before[:] = 0.0, 0.0, 0.0, 0.0
    for a in range(len(d)):
        one = limb[a]
        gone[one] += d[a] * d[a]
        turned[one] += d[a] * box[BEFORE, a]
        before[one] += box[BEFORE, a] * box[BEFORE, a]
    for i in range(len(kinds)):
        if damps(row, kinds, level, i):
            step = row[SHARE, i] * (row[TARGET, i] - f[i])
            wanted[limb_of(J, i, limb)] += step * step


@part
def learn_bends(row, kinds, f, J, limbs, box, d, after, bends):
    """
    Fill how much the ways of joints bend (n,) [1/rad, 1/m], where their limb swings.

    That is 2 b / |d|^2, where the step d misses by b what its Jacobian says. Returns whether any
    is more than was known.
    """
    n, found = len(d), False
    gone, wanted, turned, before = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    missed = np.empty(n)
    for level in range(len(limbs)):
        limb = limbs[level]
        sums_of_limbs(row, kinds, level, f, J, limb, box, d, gone, wanted, turned, before)
        missed[:] = 0.0
        for i in range(len(kinds)):
            if damps(row, kinds, level, i):
                away = after[i] - f[i]
                for j in range(n):
                    away -= J[i, j] * d[j]
                missed[limb_of(J, i, limb)] += away * away
        for a in range(n):
            one = limb[a]
            # rounding is no bend, nor is an angle that jumps
            if gone[one] > STANDS and missed[one] < JUMPS and (
                    missed[one] > SWINGS * SWINGS * wanted[one]
                    or turned[one] < -TURNS * math.sqrt(gone[one] * before[one])):
                learnt = min(2.0 * math.sqrt(missed[one]) / gone[one], BENT)
                if learnt > bends[a]:
                    found = found or learnt > 1.1 * bends[a]
                    bends[a] = learnt
    return found


@part
def fill_calm(row, kinds, f, J, limbs, bends, calm):
    """
    Fill what damps joints (levels, n) whose ways are known to bend.

    Near a singularity, and at the end of reach, a small error asks for large steps, whose bent
    ways lead to other errors as large. Damping by weight * error * bend is what the exact Hessian
    has beyond J^T J, at most: with it the bend stays below an eighth of what is wanted.
    """
    calm[:] = 0.0
    for level in range(len(limbs)):
        limb = limbs[level]
        for i in range(len(kinds)):
            if damps(row, kinds, level, i):
                one = limb_of(J, i, limb)
                calm[level, one] += (row[DAMPING, i] * row[WEIGHT, i] * bends[one]
                                     * abs(row[TARGET, i] - f[i]))
        for a in range(len(bends)):
            calm[level, a] = calm[level, limb[a]]
