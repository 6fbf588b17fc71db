"""Operations on short arrays, each of which would take several slow calls of NumPy."""

import numpy as np

from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.kernels.source import loop, part


@loop("b1(f8[::1], Array(f8, 1, 'C', True), Array(f8, 1, 'C', True), f8)")
def are_within(f, lower, upper, tolerance):
    """Return whether values f (m,) are within bounds (m,), up to a tolerance; False for NaN."""
    for i in range(len(f)):
        if not lower[i] - tolerance <= f[i] <= upper[i] + tolerance:
            return False
    return True


@part
def nearest_turn(value, seed, lower, upper):
    """Add full turns to a value [rad] to bring it as near to the seed as the limits allow."""
    least, most = np.ceil((lower - value) / TURN), np.floor((upper - value) / TURN)
    turns = min(max(np.rint((seed - value) / TURN), least), most)
    # due to rounding, the sum may be slightly beyond a limit
    return min(max(value + TURN * turns, lower), upper)


@loop("void(f8[::1], i8[::1], Array(f8, 1, 'C', True), Array(f8, 1, 'C', True), "
      "Array(f8, 1, 'C', True))")
def choose_turns(q, indices, seed, lower, upper):
    """Bring the values of q (nq,) at `indices` near the seed by full turns; see `nearest_turn`."""
    for i in indices:
        q[i] = nearest_turn(q[i], seed[i], lower[i], upper[i])


@loop('b1(f8[:,::1], f8, f8)')
def is_rigid(T, rounding, farthest):
    """
    Return whether k matrices, stacked as T (4 k, 4), are rigid transformations up to `rounding`.

    Also return False if a position is more than `farthest` [m] from the origin along an axis.
    """
    for a in range(0, len(T), 4):
        b, c, d = a + 1, a + 2, a + 3
        if T[d, 0] != 0 or T[d, 1] != 0 or T[d, 2] != 0 or T[d, 3] != 1:
            return False
        first = second = product = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            first += T[a, i] * T[a, i]
            second += T[b, i] * T[b, i]
            product += T[a, i] * T[b, i]
            # right-handed: row 3 of R is the cross product of rows 1 and 2; `not <` rejects NaN
            if not (abs(T[a, j] * T[b, k] - T[a, k] * T[b, j] - T[c, i]) < rounding
                    and abs(T[a + i, 3]) <= farthest):
                return False
        # rows 1 and 2 are orthonormal
        if not (abs(first - 1) < rounding and abs(second - 1) < rounding
                and abs(product) < rounding):
            return False
    return True
