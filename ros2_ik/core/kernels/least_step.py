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


@numba.njit('b1(f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], f8[::1], f8[::1],'
            'f8[::1])', cache=True, nogil=True)
def least_step(H, h, A, lower, upper, weight, low, high, d, r):
    """
    Fill d (n,) with the least of 1/2 d^T H d + h^T d + 1/2 weight |slack|^2 in low..high.

    A d + slack is in lower..upper; r (m,) is how far A d is outside; the box holds 0.

    H is positive definite. An active-set method on the box (Nocedal and Wright, 16.5) with
    Newton steps on the slack, which is convex and piecewise quadratic. False where the system of
    a step cannot be solved.
    """
    m, n = A.shape
    g, K, step = np.empty(n), np.empty((n, n)), np.empty(n)
    trial, r_trial, g_trial = np.empty(n), np.empty(m), np.empty(n)
    fixed = np.zeros(n, dtype=np.bool_)
    d[:] = 0.0
    value = _objective(d, H, h, A, lower, upper, weight, r, g)
    for _ in range(20 + 4 * n):
        _curvature(H, A, lower, upper, r, weight, fixed, K)
        for j in range(n):
            step[j] = 0.0 if fixed[j] else -g[j]
        if not solve(K, step, n):
            return False
        length, blocked, longest = 1.0, -1, 0.0
        for j in range(n):
            if step[j] != 0:
                room = (high[j] if step[j] > 0 else low[j]) - d[j]
                longest = max(longest, abs(step[j]))
                if room / step[j] < length:
                    length, blocked = max(room / step[j], 0.0), j
        if length > 0:
            while True:
                for j in range(n):
                    trial[j] = d[j] + length * step[j]
                after = _objective(trial, H, h, A, lower, upper, weight, r_trial, g_trial)
                if after <= value or length < 1e-6:
                    break
                length, blocked = 0.5 * length, -1
            if after > value:
                return True        # rounding: no way down is left
            gained = value - after
            value = after
            d[:] = trial
            r[:] = r_trial
            g[:] = g_trial
        else:
            gained = 0.0
        if blocked >= 0:
            fixed[blocked] = True
            d[blocked] = high[blocked] if step[blocked] > 0 else low[blocked]
            continue
        if length * longest < 1e-9 or gained <= 1e-12 * abs(value):
            # least on this face of the box: let go what is held against its will
            freed, most = -1, 1e-12 * (1.0 + abs(value))
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
