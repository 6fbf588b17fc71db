"""Comparisons of a few numbers, each of which takes NumPy several calls."""

import math

import numpy as np

from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.kernels.source import loop, part

HUGE = 1e150    # whose square is a number


@loop("b1(f8[::1], i8[::1], f8[:,::1], i8[::1], Array(f8, 1, 'C', True))")
def are_held(q, places, limits, at_rest, start):
    """
    Return whether values of q (nq,) are within limits, and the others where `start` (nq,) is.

    Those at `places` (n,) are within limits (2, n), those `at_rest` equal, and all of them far
    from infinite. `start` may be read-only.
    """
    for value in q:
        if not abs(value) < HUGE:
            return False
    for i in range(len(places)):
        if not limits[0, i] <= q[places[i]] <= limits[1, i]:
            return False
    for i in at_rest:
        if q[i] != start[i]:
            return False
    return True


@loop("b1(f8[::1], Array(f8, 1, 'C', True), Array(f8, 1, 'C', True), f8)")
def are_within(f, lower, upper, tolerance):
    """Return whether values f (m,) are within bounds (m,), up to a tolerance."""
    for i in range(len(f)):
        if not lower[i] - tolerance <= f[i] <= upper[i] + tolerance:    # NaN fails, too
            return False
    return True


@part
def turned(value, seed, lower, upper):
    """Add full turns to one value, see `choose_turns`."""
    # value is within its limits up to rounding errors, so 0 turns must remain possible
    least = min(np.ceil((lower - value) / TURN), 0.0)
    most = max(np.floor((upper - value) / TURN), 0.0)
    turns = min(max(np.rint((seed - value) / TURN), least), most)
    if turns == 0:
        return value
    return min(max(value + TURN * turns, lower), upper)    # rounding may carry it beyond one


@loop('void(f8[::1], i8[::1], f8[::1], f8[::1], f8[::1])')
def choose_turns(q, places, seed, lower, upper):
    """
    Add full turns to the values of q (nq,) at `places` (k,), within their limits (k,) each.

    The turns are those that bring the values nearest to the seed (k,).
    """
    for k in range(len(places)):
        q[places[k]] = turned(q[places[k]], seed[k], lower[k], upper[k])


@loop('b1(f8[:,:,:], f8, f8)')
def are_rigid(poses, rounding, farthest):
    """Return whether all (k, 4, 4) are rigid transformations but for rounding, and not far off."""
    for T in poses:
        if T[3, 0] != 0 or T[3, 1] != 0 or T[3, 2] != 0 or T[3, 3] != 1:
            return False
        first = second = product = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            first += T[0, i] * T[0, i]
            second += T[1, i] * T[1, i]
            product += T[0, i] * T[1, i]
            # written so that NaN fails, too; the last row is the cross product of the others
            if not (abs(T[0, j] * T[1, k] - T[0, k] * T[1, j] - T[2, i]) < rounding
                    and abs(T[i, 3]) <= farthest):
                return False
        if not (abs(first - 1) < rounding and abs(second - 1) < rounding
                and abs(product) < rounding):
            return False
    return True


@loop('UniTuple(f8, 2)(f8[:,:], f8[:,:])')
def distance_between(M, T):
    """
    Return how far two poses (4, 4) are apart [m], and by how much they are turned [rad].

    The angle is that of the cosine and sine which trace and skew part of T^T M have.
    """
    squared = trace = x = y = z = 0.0
    for i in range(3):
        off = M[i, 3] - T[i, 3]
        squared += off * off
        trace += T[i, 0] * M[i, 0] + T[i, 1] * M[i, 1] + T[i, 2] * M[i, 2]
        x += T[i, 2] * M[i, 1] - T[i, 1] * M[i, 2]
        y += T[i, 0] * M[i, 2] - T[i, 2] * M[i, 0]
        z += T[i, 1] * M[i, 0] - T[i, 0] * M[i, 1]
    return math.sqrt(squared), math.atan2(math.sqrt(x * x + y * y + z * z), trace - 1.0)
