"""
Down least-squares costs along rows with bounds, compiled: as solvers/cost_descent.py.

Compiled when imported, for one signature each; needs numba.
"""

import numba
import numpy as np

from ros2_ik.core.kernels.least_step import least_step
from ros2_ik.core.kernels.rows import evaluate, FRAMES, TABLE, TREE

CONVERGED, ITERATION_LIMIT = 1, 2    # of ExitFlag
FIRM = 1e8          # weight of hard rows in a step
PENALTY = 1.0       # of their violation in the merit, at least
GAIN = 1e-8         # of the merit, relative, below which a step is not worth making
LEAST_STEP = 1e-9


@numba.njit('f8(f8[::1], f8[:,::1], f8[::1], f8[::1], f8[:,::1], f8, f8[::1], f8[:,::1])',
            cache=True, nogil=True)
def _cost(f, J, lower, upper, factor, unit, g, H):
    """Cost of the residuals outside lower..upper, with its slope g and Gauss-Newton matrix H."""
    m, n = J.shape
    row = np.empty(n)
    total = 0.0
    g[:] = 0.0
    H[:] = 0.0
    for k in range(len(factor)):
        r = 0.0
        row[:] = 0.0
        for i in range(m):
            if factor[k, i] != 0:
                away = f[i] - min(max(f[i], lower[i]), upper[i])
                # inside its bounds a cost asks for nothing
                if away != 0 or lower[i] == upper[i]:
                    r += factor[k, i] * away
                    for j in range(n):
                        row[j] += factor[k, i] * J[i, j]
        total += 0.5 * r * r
        for a in range(n):
            g[a] += r * row[a]
            for b in range(n):
                H[a, b] += row[a] * row[b]
    for a in range(n):
        g[a] /= unit
        for b in range(n):
            H[a, b] /= unit
    return total / unit


@numba.njit('b1(f8[::1], f8[::1], f8[::1], f8[::1])', cache=True, nogil=True)
def _holds(f, lower, upper, tolerance):
    for i in range(len(f)):
        if f[i] < lower[i] - tolerance[i] or f[i] > upper[i] + tolerance[i]:
            return False
    return True


@numba.njit('f8(f8[::1], f8[::1], f8[::1])', cache=True, nogil=True)
def _violation(f, lower, upper):
    total = 0.0
    for i in range(len(f)):
        total += max(lower[i] - f[i], 0.0) + max(f[i] - upper[i], 0.0)
    return total


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], f8[::1])', cache=True, nogil=True)
def _learn(bent, H, s, y):
    """Powell-damped BFGS update of H + bent by a step s and the change y of the slope."""
    n = len(s)
    As = np.empty(n)
    sAs = sy = 0.0
    for a in range(n):
        As[a] = 1e-8 * s[a]
        for b in range(n):
            As[a] += (H[a, b] + bent[a, b]) * s[b]
        sAs += s[a] * As[a]
        sy += s[a] * y[a]
    if not sAs > 1e-16:
        return
    share = 1.0 if sy >= 0.2 * sAs else 0.8 * sAs / (sAs - sy)
    sy = share * sy + (1.0 - share) * sAs
    for a in range(n):
        for b in range(n):
            ya, yb = share * y[a] + (1 - share) * As[a], share * y[b] + (1 - share) * As[b]
            bent[a, b] += ya * yb / sy - As[a] * As[b] / sAs


@numba.njit(f'Tuple((f8, f8, i8, i8))(f8[::1], {TREE}, {FRAMES}, {TABLE}, f8[::1], f8[::1],'
            'f8[::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, i8, b1,'
            'f8[::1])', cache=True, nogil=True)
def descend(x, parent, before, rotary, column, multiplier, offset, node, place, carries, table,
            params, row_lower, row_upper, tolerance, scale, cost_lower, cost_upper, factor,
            lower, upper, trust, limit, learns, last):
    """
    Lower 1/2 |factor (f outside cost_lower..cost_upper)|^2 from x (n,), where the rows hold.

    x is left at the best values at which they hold, and `last` (n,) at the last, at which they
    may not quite. Gives the costs at both, the number of iterations and the exit flag. For the
    other arguments see `row_descent.descend`.
    """
    n, m = len(x), len(row_lower)
    f, J, f_after, J_after = np.empty(m), np.empty((m, n)), np.empty(m), np.empty((m, n))
    g, H, g_after, H_after = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((n, n))
    low, high, d, r = np.empty(n), np.empty(n), np.empty(n), np.empty(m)
    below, above, y, K = np.empty(m), np.empty(m), np.empty(n), np.empty((n, n))
    bent, zero, one = np.zeros((n, n)), np.zeros(n), np.eye(n)
    after, best_x, back, r_back = np.empty(n), x.copy(), np.empty(n), np.empty(m)

    evaluate(x, parent, before, rotary, column, multiplier, offset, node, place, carries, table,
             params, f, J)
    cost = _cost(f, J, cost_lower, cost_upper, factor, 1.0, g, H)
    curvature = slope = 0.0
    for j in range(n):
        curvature += H[j, j] / n
        slope = max(slope, abs(g[j]))
    unit = max(curvature, 1e-3 * slope, 1e-12)
    cost = _cost(f, J, cost_lower, cost_upper, factor, unit, g, H)
    for i in range(m):
        f[i] *= scale[i]
        for j in range(n):
            J[i, j] *= scale[i]
    violation = _violation(f, row_lower, row_upper)
    best, damping, iteration, flag, fresh = cost, 1e-2, 0, CONVERGED, True
    while True:
        if iteration >= limit:
            flag = ITERATION_LIMIT
            break
        for i in range(m):
            below[i], above[i] = row_lower[i] - f[i], row_upper[i] - f[i]
        for a in range(n):
            low[a] = min(max(lower[a] - x[a], -trust), 0.0)
            high[a] = max(min(upper[a] - x[a], trust), 0.0)
            for b in range(n):
                K[a, b] = H[a, b] + bent[a, b]
            K[a, a] += damping
        if not least_step(K, g, J, below, above, FIRM, low, high, d, r):
            if learns and np.any(bent):
                bent[:] = 0.0      # not positive definite: begin to learn anew
                continue
            break
        predicted, longest, left, penalty = 0.0, 0.0, 0.0, PENALTY
        for a in range(n):
            predicted -= g[a] * d[a]
            longest = max(longest, abs(d[a]))
            for b in range(n):
                predicted -= 0.5 * d[a] * (H[a, b] + bent[a, b]) * d[b]
        for i in range(m):
            left += abs(r[i])
            # a merit that charges less than the rows are worth has its least off them
            penalty = max(penalty, 1.5 * FIRM * abs(r[i]))
        predicted += penalty * (violation - left)
        if predicted <= GAIN * (1.0 + abs(cost)) or longest < LEAST_STEP or damping > 1e8:
            if fresh:
                break
            # what was learnt may mislead: it is a minimum if it is one without, too
            bent[:] = 0.0
            damping, fresh = 1e-2, True
            continue
        iteration += 1
        for turn in range(2):
            for j in range(n):
                start = x[j] + d[j] if turn == 0 else after[j] + back[j]
                after[j] = min(max(start, lower[j]), upper[j])
            evaluate(after, parent, before, rotary, column, multiplier, offset, node, place,
                     carries, table, params, f_after, J_after)
            cost_after = _cost(f_after, J_after, cost_lower, cost_upper, factor, unit, g_after,
                               H_after)
            for i in range(m):
                f_after[i] *= scale[i]
                for j in range(n):
                    J_after[i, j] *= scale[i]
            violation_after = _violation(f_after, row_lower, row_upper)
            ratio = (cost - cost_after + penalty * (violation - violation_after)) / predicted
            if turn == 1 or ratio >= 0.5 or penalty * violation_after <= 0.1 * predicted:
                break
            # the rows' curvature ate the gain: lead the step back onto them
            for i in range(m):
                below[i], above[i] = row_lower[i] - f_after[i], row_upper[i] - f_after[i]
            for a in range(n):
                low[a] = min(max(lower[a] - after[a], -trust), 0.0)
                high[a] = max(min(upper[a] - after[a], trust), 0.0)
            if not least_step(one, zero, J, below, above, FIRM, low, high, back, r_back):
                break
        if learns:
            for j in range(n):
                y[j] = g_after[j] - g[j]
                for i in range(m):
                    if r[i] != 0:
                        y[j] += FIRM * r[i] * (J_after[i, j] - J[i, j])
            for j in range(n):
                d[j] = after[j] - x[j]
            _learn(bent, H_after if ratio > 1e-4 else H, d, y)
        if ratio > 1e-4:
            fresh = False
            x[:] = after
            f[:] = f_after
            J[:] = J_after
            g[:] = g_after
            H[:] = H_after
            cost, violation = cost_after, violation_after
            if cost < best and _holds(f, row_lower, row_upper, tolerance):
                best = cost
                best_x[:] = x
        if ratio < 0.25:
            damping *= 4.0
        elif ratio > 0.75:
            damping *= 0.3
    last[:] = x
    x[:] = best_x
    return best * unit, cost * unit, iteration, flag
