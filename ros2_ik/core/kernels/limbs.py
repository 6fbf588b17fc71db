"""Joints that move together, and how much their ways bend, so that they do not swing."""

import math

import numpy as np

from ros2_ik.core.kernels.source import inner_part, part
from ros2_ik.core.kernels.velocity_rows import (
    BEFORE,
    BEND,
    DAMPING,
    LIMB,
    SHARE,
    TARGET,
    WEIGHT,
)

SWINGS = 0.25       # part of what a step wants that its bend may be before joints are damped,
TURNS = 0.25        # and square of the cosine of the angle by which they may turn back
FAR_BENT = 1.0      # square of how much ways bend at most where nothing is known of it
BENT = 2.0          # more than that no way bends [1/rad, 1/m],
STANDS = 1e-12      # square of a step that is too small to tell,
JUMPS = 1.0         # and of one that is no bend
FADES = 0.98        # and with each step less of it is known,
FLAT = 1e-4         # until it is as good as none


@inner_part
def damps(row, kinds, level, i):
    """Return whether a row belongs to a task of a priority that is damped where it swings."""
    return (kinds[i] == level and row[SHARE, i] > 0 and row[WEIGHT, i] > 0
            and row[DAMPING, i] > 0)


@part
def swings(row, kinds, f, limbs, box, d):
    """
    Return whether a limb may swing over what its tasks want.

    It goes so far for it that its bent way may miss that, or goes back where it came from.
    """
    sums = np.empty((4, len(d)))
    for level in range(len(limbs) - 1):
        sums_of_limbs(row, kinds, level, f, limbs[level], box, d, sums)
        for a in range(len(d)):
            gone, wanted, turned, before = sums[0, a], sums[1, a], sums[2, a], sums[3, a]
            if wanted > 0 and (FAR_BENT * gone * gone > wanted
                               or turned < 0 and turned * turned > TURNS * gone * before):
                return True
    return False


@part
def sums_of_limbs(row, kinds, level, f, limb, box, d, sums):
    """Fill |d|^2, |steps wanted|^2, d v and |v|^2 of limbs (4, n), with v the velocity before."""
    sums[:] = 0.0
    for a in range(len(d)):
        one, before = limb[a], box[BEFORE, a]
        sums[0, one] += d[a] * d[a]
        sums[2, one] += d[a] * before
        sums[3, one] += before * before
    for i in range(len(kinds)):
        if damps(row, kinds, level, i):
            step = row[SHARE, i] * (row[TARGET, i] - f[i])
            sums[1, int(row[LIMB, i])] += step * step


@part
def learn_bends(row, kinds, f, J, limbs, box, d, after):
    """
    Fill how much the ways of joints bend (of `box`) [1/rad, 1/m], where their limb swings.

    That is 2 b / |d|^2, where the step d misses by b what its Jacobian says. Returns whether any
    is more than was known.
    """
    n, found = len(d), False
    sums, missed = np.empty((4, n)), np.empty(n)
    for level in range(len(limbs) - 1):
        limb = limbs[level]
        sums_of_limbs(row, kinds, level, f, limb, box, d, sums)
        missed[:] = 0.0
        for i in range(len(kinds)):
            if damps(row, kinds, level, i):
                away = after[i] - f[i]
                for j in range(n):
                    away -= J[i, j] * d[j]
                missed[int(row[LIMB, i])] += away * away
        for a in range(n):
            one = limb[a]
            gone, wanted, turned, before = sums[0, one], sums[1, one], sums[2, one], sums[3, one]
            # rounding is no bend, nor is an angle that jumps
            if gone > STANDS and missed[one] < JUMPS and (
                    missed[one] > SWINGS * SWINGS * wanted
                    or turned < 0 and turned * turned > TURNS * gone * before):
                learnt = min(2.0 * math.sqrt(missed[one]) / gone, BENT)
                if learnt > box[BEND, a]:
                    found = found or learnt > 1.1 * box[BEND, a]
                    box[BEND, a] = learnt
    return found


@part
def fill_calm(row, kinds, f, limbs, box, calm):
    """
    Fill what damps joints (levels, n) whose ways are known to bend.

    Near a singularity, and at the end of reach, a small error asks for large steps, whose bent
    ways lead to other errors as large. Damping by weight * error * bend is what the exact Hessian
    has beyond J^T J, at most: with it the bend stays below an eighth of what is wanted.
    """
    calm[:] = 0.0
    for level in range(len(calm)):
        limb = limbs[level]
        for i in range(len(kinds)):
            if damps(row, kinds, level, i):
                one = int(row[LIMB, i])
                calm[level, one] += (row[DAMPING, i] * row[WEIGHT, i] * box[BEND, one]
                                     * abs(row[TARGET, i] - f[i]))
        for a in range(calm.shape[1]):
            calm[level, a] = calm[level, limb[a]]
