"""Comparisons of short arrays, each of which would take several slow NumPy calls."""

import math

import numpy as np

from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.kernels.source import loop, part

HUGE = 1e150    # its square still is a finite double


@loop("b1(f8[::1], i8[::1], f8[:,::1], i8[::1], Array(f8, 1, 'C', True))")
def are_held(q, places, limits, at_rest, start):
    """
    Return whether q (nq,) is within limits, with the other values equal to `start` (nq,).

    Values at the indices `places` (n,) must be within `limits` (2, n), values at the indices
    `at_rest` equal to those of `start`, and all magnitudes below HUGE. `start` may be read-only.
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
    """Return whether values f (m,) are within bounds (m,), up to a tolerance; False for NaN."""
    for i in range(len(f)):
        if not lower[i] - tolerance <= f[i] <= upper[i] + tolerance:
            return False
    return True


@part
def turned(value, seed, lower, upper):
    """Return a value [rad] plus the full turns that bring it nearest to the seed within limits."""
    # rounding may have carried the value slightly beyond a limit: 0 turns stay allowed
    least = min(np.ceil((lower - value) / TURN), 0.0)
    most = max(np.floor((upper - value) / TURN), 0.0)
    turns = min(max(np.rint((seed - value) / TURN), least), most)
    if turns == 0:
        return value
    return min(max(value + TURN * turns, lower), upper)


@loop('void(f8[::1], i8[::1], f8[::1], f8[::1], f8[::1])')
def choose_turns(q, places, seed, lower, upper):
    """
    Add full turns to the values of q (nq,) at the indices `places` (k,).

    The turns bring each value nearest to `seed` (k,) within `lower` and `upper` (k,) [rad].
    """
    for k in range(len(places)):
        q[places[k]] = turned(q[places[k]], seed[k], lower[k], upper[k])


@loop('b1(f8[:,:,:], f8, f8)')
def are_rigid(poses, rounding, farthest):
    """
    Return whether all poses (k, 4, 4) are rigid transformations up to `rounding`.

    Each coordinate of a position is at most `farthest` [m].
    """
    for T in poses:
        if T[3, 0] != 0 or T[3, 1] != 0 or T[3, 2] != 0 or T[3, 3] != 1:
            return False
        first = second = product = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            first += T[0, i] * T[0, i]
            second += T[1, i] * T[1, i]
            product += T[0, i] * T[1, i]
            # right-handed: row 3 of R is the cross product of rows 1 and 2; `not <` refuses NaN
            if not (abs(T[0, j] * T[1, k] - T[0, k] * T[1, j] - T[2, i]) < rounding
                    and abs(T[i, 3]) <= farthest):
                return False
        # rows 1 and 2 are orthonormal
        if not (abs(first - 1) < rounding and abs(second - 1) < rounding
                and abs(product) < rounding):
            return False
    return True


@loop('UniTuple(f8, 2)(f8[:,:], f8[:,:])')
def distance_between(M, T):
    """
    Return the distance [m] and the angle [rad] between two poses (4, 4).

    The angle is atan2(sine, cosine), from the skew part and the trace of R_T^T R_M.
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
