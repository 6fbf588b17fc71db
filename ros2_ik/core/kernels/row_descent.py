"""
Gauss-Newton on rows with bounds, compiled: the same descent as the first part of solvers/sqp.py.

Compiled when imported, for one signature each; needs numba.
"""

import numba
import numpy as np

from ros2_ik.core.kernels.least_step import least_step
from ros2_ik.core.kernels.rows import evaluate, FRAMES, TABLE, TREE

CONVERGED, ITERATION_LIMIT, STEP_TOO_SMALL, ERROR_CHANGE_TOO_SMALL = 1, 2, 4, 5  # of ExitFlag


@numba.njit(f'Tuple((f8, i8, i8))(f8[::1], {TREE}, {FRAMES}, {TABLE}, f8[::1], f8[::1], f8[::1],'
            'f8[::1], f8[::1], f8[::1], f8, f8, i8, i8, f8)', cache=True, nogil=True)
def descend(x, parent, before, rotary, column, multiplier, offset, node, place, carries, table,
            params, row_lower, row_upper, tolerance, scale, lower, upper, damping, trust, limit,
            patience, drop):
    """
    Descend from x (n,) until each row is within `tolerance` of its bounds; see `evaluate`.

    x is left at the best values seen. Gives the squared violation, the number of iterations and
    the exit flag.
    """
    n, m = len(x), len(row_lower)
    f, J = np.empty(m), np.empty((m, n))
    low, high, d = np.empty(n), np.empty(n), np.empty(n)
    below, above = np.empty(m), np.empty(m)
    H, h, r = np.zeros((n, n)), np.zeros(n), np.empty(m)
    best_x = x.copy()
    best, stall, iteration = np.inf, 0, 0
    while True:
        evaluate(x, parent, before, rotary, column, multiplier, offset, node, place, carries,
                 table, params, f, J)
        total, reached = 0.0, True
        for i in range(m):
            for j in range(n):
                J[i, j] *= scale[i]
            below[i] = row_lower[i] - scale[i] * f[i]
            above[i] = row_upper[i] - scale[i] * f[i]
            away = max(below[i], 0.0) + min(above[i], 0.0)
            total += away * away
            # no number at all is within no bounds
            reached = reached and abs(away) <= tolerance[i] and f[i] - f[i] == 0
        if reached:
            return total, iteration, CONVERGED
        stall = 0 if total < drop * best else stall + 1
        if total < best:
            best = total
            best_x[:] = x
        flag = 0
        if iteration >= limit:
            flag = ITERATION_LIMIT
        elif stall >= patience:
            flag = ERROR_CHANGE_TOO_SMALL
        else:
            for j in range(n):
                low[j] = min(max(lower[j] - x[j], -trust), 0.0)
                high[j] = max(min(upper[j] - x[j], trust), 0.0)
                H[j, j] = damping * min(total, 100.0) + 1e-9
            if not least_step(H, h, J, below, above, 1.0, low, high, d, r):
                flag = STEP_TOO_SMALL
        if flag:
            x[:] = best_x
            return best, iteration, flag
        for j in range(n):
            x[j] = min(max(x[j] + d[j], lower[j]), upper[j])
        iteration += 1
