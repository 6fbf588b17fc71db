"""
The quadratic program of one step, compiled.

Compiled when imported, for one signature each; needs numba.
"""

import numba
import numpy as np

from ros2_ik.core.kernels.placements import solve


@numba.njit('f8(f8[::1], f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], f8[::1])',
            cache=True, nogil=True)
def _objective(d, H, h, A, lower, upper, weight, r, g):
    """Value of the program at d; r is how far A d is outside its bounds, g the slope."""
    m, n = A.shape
    total = 0.0
    for j in range(n):
        g[j] = h[j]
        for k in range(n):
            g[j] += H[j, k] * d[k]
        total += 0.5 * (g[j] + h[j]) * d[j]
    for i in range(m):
        value = 0.0
        for j in range(n):
            value += A[i, j] * d[j]
        r[i] = min(value - lower[i], 0.0) + max(value - upper[i], 0.0)
        if r[i] != 0:
            total += 0.5 * weight * r[i] * r[i]
            for j in range(n):
                g[j] += weight * A[i, j] * r[i]
    return total


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[::1], f8, b1[::1], f8[:,::1])',
            cache=True, nogil=True)
def _curvature(H, A, lower, upper, r, weight, fixed, K):
    """Fill the lower half of K: H and the rows that count, fixed variables left out."""
    m, n = A.shape
    K[:] = H
    for i in range(m):
        # a row of one value counts always: its slack is zero at most in passing
        if r[i] != 0 or lower[i] == upper[i]:
            for a in range(n):
                if A[i, a] != 0 and not fixed[a]:
                    for b in range(a + 1):
                        K[a, b] += weight * A[i, a] * A[i, b]
    for j in range(n):
        if fixed[j]:
            for k in range(n):
                if k <= j:
                    K[j, k] = 0.0
                else:
                    K[k, j] = 0.0
            K[j, j] = 1.0


@numba.njit('f8(f8, f8, f8[::1], f8[::1], f8[::1], f8[::1], f8, f8)', cache=True, nogil=True)
def _least_along(slope, bend, value, rate, lower, upper, weight, longest):
    """
    Give the length in (0, longest] at which the program is least along a direction.

    `slope` and `bend` are those of its smooth part, `value` and `rate` (m,) those of the rows.
    The derivative is piecewise linear and grows: its zero is found by bisection, and then on the
    piece it lies on. Where a row begins to count, that is just beyond its bound.
    """
    below, above = 0.0, longest
    for turn in range(60):
        middle = above if turn == 0 else 0.5 * (below + above)
        derivative = slope + middle * bend
        growth = bend
        for i in range(len(value)):
            at = value[i] + middle * rate[i]
            away = min(at - lower[i], 0.0) + max(at - upper[i], 0.0)
            if away != 0:
                derivative += weight * rate[i] * away
                growth += weight * rate[i] * rate[i]
        if derivative <= 0:
            if turn == 0:
                return longest
            below = middle
        else:
            above = middle
        if growth > 0 and turn > 0:
            exact = middle - derivative / growth
            if below < exact < above:
                same = True
                for i in range(len(value)):
                    one, two = value[i] + middle * rate[i], value[i] + exact * rate[i]
                    if ((one < lower[i]) != (two < lower[i])
                            or (one > upper[i]) != (two > upper[i])):
                        same = False
                        break
                if same:
                    return exact
    return above


@numba.njit('b1(f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], f8[::1], f8[::1],'
            'f8[::1])', cache=True, nogil=True)
def least_step(H, h, A, lower, upper, weight, low, high, d, r):
    """
    Fill d (n,) with the least of 1/2 d^T H d + h^T d + 1/2 weight |slack|^2 in low..high.

    A d + slack is in lower..upper; r (m,) is how far A d is outside; the box holds 0. H is
    positive definite. An active-set method on the box (Nocedal and Wright, 16.5) with Newton
    steps and exact line searches on the slack, which is convex and piecewise quadratic. False
    where the system of a step cannot be solved.
    """
    m, n = A.shape
    g, K, step = np.empty(n), np.empty((n, n)), np.empty(n)
    value, rate = np.empty(m), np.empty(m)
    fixed = np.zeros(n, dtype=np.bool_)
    d[:] = 0.0
    total = _objective(d, H, h, A, lower, upper, weight, r, g)
    for _ in range(20 + 4 * n + 2 * m):
        _curvature(H, A, lower, upper, r, weight, fixed, K)
        for j in range(n):
            step[j] = 0.0 if fixed[j] else -g[j]
        if not solve(K, step, n):
            return False
        longest, blocked, size = 1.0, -1, 0.0
        for j in range(n):
            if step[j] != 0:
                room = (high[j] if step[j] > 0 else low[j]) - d[j]
                size = max(size, abs(step[j]))
                if room / step[j] < longest:
                    longest, blocked = max(room / step[j], 0.0), j
        gained, length = 0.0, 0.0
        if longest > 0 and size > 0:
            slope = bend = 0.0
            for j in range(n):
                smooth = h[j]
                for k in range(n):
                    smooth += H[j, k] * d[k]
                    bend += step[j] * H[j, k] * step[k]
                slope += smooth * step[j]
            for i in range(m):
                value[i] = rate[i] = 0.0
                for j in range(n):
                    value[i] += A[i, j] * d[j]
                    rate[i] += A[i, j] * step[j]
            length = _least_along(slope, bend, value, rate, lower, upper, weight, longest)
            for j in range(n):
                d[j] = min(max(d[j] + length * step[j], low[j]), high[j])
            after = _objective(d, H, h, A, lower, upper, weight, r, g)
            gained, total = total - after, after
        if blocked >= 0 and length >= longest:
            fixed[blocked] = True
            d[blocked] = high[blocked] if step[blocked] > 0 else low[blocked]
            continue
        if length * size < 1e-10 or gained <= 1e-13 * abs(total):
            # least on this face of the box: let go what is held against its will
            freed, most = -1, 1e-12 * (1.0 + abs(total))
            for j in range(n):
                inward = 0.0
                if fixed[j] and d[j] >= high[j]:
                    inward = g[j]
                if fixed[j] and d[j] <= low[j]:
                    inward = max(inward, -g[j])
                if high[j] > low[j] and inward > most:
                    freed, most = j, inward
            if freed < 0:
                return True
            fixed[freed] = False
    return True
