"""The descents of solvers/sqp.py: onto the rows that must hold, then down the costs along them."""

import numpy as np

from ros2_ik.core.kernels.descents import (
    bound_distances,
    CONVERGED,
    INTERRUPTED,
    ITERATION_LIMIT,
    MOST,
    scaled_rows,
    STEP_TOO_SMALL,
    update_best,
)
from ros2_ik.core.kernels.qp import row_times, solve_qp, STIFFEST
from ros2_ik.core.kernels.rows import fill, layout_of, move, PROGRAM, step_bounds, work_of
from ros2_ik.core.kernels.source import loop, part

FAR = 1e4           # bounds this far away from a row's value count as this far
SLACK_WEIGHT = 1e8          # weight of hard rows in a step along them, at first
PENALTY = 1.0       # of their violation in the merit, at least
GAIN = 1e-8         # of the merit, relative, below which a step is not worth making
LEAST_STEP = 1e-9
TRIES = 8           # lengths of one step
ENOUGH = 0.1        # part of the gain that was predicted


@part
def clip_bounds(below, above):
    """Bring bounds nearer that no step reaches: huge numbers would cost precision."""
    for i in range(len(below)):
        below[i] = min(max(below[i], -FAR), FAR)
        above[i] = max(min(above[i], FAR), -FAR)


@part
def goes_far(at, limits, farthest, d):
    """Return whether a step (n,) goes as far as it may where no limit is near."""
    for j in range(len(d)):
        i = at.table[at.values + j]
        if (i >= 0 and abs(d[j]) > 0.99 * farthest[j] and np.isinf(limits[0, i])
                and np.isinf(limits[1, i])):
            return True
    return False


@loop(f'Tuple((f8, i8, i8, i8, i8))({PROGRAM}, f8[:,::1], f8[:,::1], i8[::1], f8[:,::1], f8[::1], '
      'f8, i8, i8, f8, i8)')
def hold(numbers, layout, parameters, addresses, starts, limits, rows, bounds, farthest, damping,
         limit, patience, drop, most):
    """
    Descend from one of `starts` (k, nx) after another until all rows are within their bounds.

    Up to their tolerance, see `bound_distances` and `move`; a step is at most `farthest` (n,).
    There are at most `limit` iterations from each start, and `most` from all. The starts that were
    used are left at their best values. Returns the squared violation of the best one, its exit
    flag and its number, the number of iterations and of starts used.
    """
    at = layout_of(numbers, layout)
    best, best_flag, best_start, iterations, used, flag = np.inf, 0, 0, 0, 0, 0
    while used < len(starts):
        error, done, flag = hold_from(at, parameters, addresses, starts[used], limits, rows,
                                      bounds, farthest, damping, min(limit, most - iterations),
                                      patience, drop)
        if used == 0 or flag == CONVERGED or error < best:
            best, best_flag, best_start = error, flag, used
        iterations, used = iterations + done, used + 1
        if flag == CONVERGED or flag == INTERRUPTED or iterations >= most:
            break
    return best, INTERRUPTED if flag == INTERRUPTED else best_flag, best_start, iterations, used


@part
def hold_from(at, parameters, addresses, x, limits, rows, bounds, farthest, damping, limit,
              patience, drop):
    """Descend from x (nx,), which is left at the best values seen; see `hold`."""
    n, m, k = at.columns, at.rows, len(rows)
    work, f, J = work_of(at), np.empty(m), np.zeros((m, n))
    below, above, A = np.empty(k), np.empty(k), np.empty((k, n))
    low, high, d, y = np.empty(n), np.empty(n), np.empty(n), np.empty(n + k)
    H, h, best_x = np.zeros((n, n)), np.zeros(n), x.copy()
    best, stall, iteration, flag = np.inf, 0, 0, 0
    far = False
    while True:
        if not fill(at, parameters, addresses, x, work, f, J):
            flag = INTERRUPTED
            break
        error, holds = bound_distances(f, rows, bounds, below, above)
        if holds:
            return error, iteration, CONVERGED
        if far and error < best:   # a joint without limits on its way through several turns
            stall = -1
        best, stall, flag = update_best(x, error, best_x, best, stall, iteration, limit, patience,
                                        drop)
        if not flag and (n == 0 or error - error != 0):
            flag = STEP_TOO_SMALL
        if flag:
            break
        step_bounds(at, x, limits, farthest, low, high)
        scaled_rows(J, rows, bounds, A)
        clip_bounds(below, above)
        for j in range(n):
            H[j, j] = damping * min(error, MOST) + 1e-9
        if not solve_qp(H, h, A, below, above, 1.0, low, high, d, y):
            flag = STEP_TOO_SMALL
            break
        far = goes_far(at, limits, farthest, d)
        move(at, x, d, limits)
        iteration += 1
    x[:] = best_x
    return best, iteration, flag


@part
def cost_of(f, J, wanted, linear, factor, unit, g, H):
    """
    Return the cost at values f, with its slope g and Gauss-Newton matrix H, in a `unit`.

    `wanted` (2, m) is where rows should be, `factor` (k, m) the root of the weight of what is
    outside; rows with `linear` (m,) are costs themselves.
    """
    m, n = J.shape
    slope = np.empty(n)
    total = 0.0
    g[:] = 0.0
    H[:] = 0.0
    for i in range(m):
        if linear[i] != 0:
            total += linear[i] * f[i]
            for j in range(n):
                g[j] += linear[i] * J[i, j]
    for k in range(len(factor)):
        r = 0.0
        slope[:] = 0.0
        for i in range(m):
            if factor[k, i] != 0:
                away = f[i] - min(max(f[i], wanted[0, i]), wanted[1, i])
                # inside its bounds a cost asks for nothing
                if away != 0 or wanted[0, i] == wanted[1, i]:
                    r += factor[k, i] * away
                    for j in range(n):
                        slope[j] += factor[k, i] * J[i, j]
        total += 0.5 * r * r
        for a in range(n):
            g[a] += r * slope[a]
            for b in range(n):
                H[a, b] += slope[a] * slope[b]
    for a in range(n):
        g[a] /= unit
        for b in range(n):
            H[a, b] /= unit
    return total / unit


@part
def violation_of(below, above):
    """Return the sum of how far rows are outside their bounds."""
    total = 0.0
    for i in range(len(below)):
        total += max(below[i], 0.0) + max(-above[i], 0.0)
    return total


@part
def update_bfgs(bfgs_correction, H, s, y):
    """Update H + bfgs_correction by Powell's damped BFGS: step s, change y of the slope."""
    n = len(s)
    As = np.empty(n)
    sAs = sy = 0.0
    for a in range(n):
        As[a] = 1e-8 * s[a]
        for b in range(n):
            As[a] += (H[a, b] + bfgs_correction[a, b]) * s[b]
        sAs += s[a] * As[a]
        sy += s[a] * y[a]
    if not sAs > 1e-16:
        return
    share = 1.0 if sy >= 0.2 * sAs else 0.8 * sAs / (sAs - sy)
    sy = share * sy + (1.0 - share) * sAs
    for a in range(n):
        for b in range(n):
            ya, yb = share * y[a] + (1 - share) * As[a], share * y[b] + (1 - share) * As[b]
            bfgs_correction[a, b] += ya * yb / sy - As[a] * As[b] / sAs


@part
def predicted_gain(g, H, bfgs_correction, d, A, below, above, violation, penalty):
    """Return how much the merit should fall by a step d."""
    n = len(d)
    gain = penalty * violation
    for a in range(n):
        gain -= g[a] * d[a]
        for b in range(n):
            gain -= 0.5 * d[a] * (H[a, b] + bfgs_correction[a, b]) * d[b]
    for i in range(len(below)):
        value = row_times(A, i, d)
        gain -= penalty * (max(below[i] - value, 0.0) + max(value - above[i], 0.0))
    return gain


@loop(f'Tuple((f8, f8, i8, i8))({PROGRAM}, f8[::1], f8[:,::1], i8[::1], f8[:,::1], f8[:,::1], '
      'f8[::1], f8[:,::1], f8[::1], i8, f8[::1])')
def lower_cost(numbers, layout, parameters, addresses, x, limits, rows, bounds, wanted, linear,
               factor, farthest, limit, last):
    """
    Lower the cost (see `cost_of`) from x (nx,), where the rows hold.

    x is left at the best values at which they hold, and `last` (nx,) at the last, at which they
    may not quite. Returns the costs at both, the number of iterations and the exit flag. For the
    other arguments see `hold`.
    """
    at = layout_of(numbers, layout)
    n, m, k = at.columns, at.rows, len(rows)
    work = work_of(at)
    f, J, f_after, J_after = np.empty(m), np.zeros((m, n)), np.empty(m), np.zeros((m, n))
    g, H, g_after, H_after = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((n, n))
    A, A_after, below, above = np.empty((k, n)), np.empty((k, n)), np.empty(k), np.empty(k)
    below_after, above_after = np.empty(k), np.empty(k)
    low, high, d, back = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    y, y_back, change, K = np.empty(n + k), np.empty(n + k), np.empty(n), np.empty((n, n))
    bfgs_correction, one, zero, moved = np.zeros((n, n)), np.eye(n), np.zeros(n), np.empty(n)
    after, best_x = x.copy(), x.copy()
    if not fill(at, parameters, addresses, x, work, f, J):
        last[:] = x
        return np.inf, np.inf, 0, INTERRUPTED
    cost_of(f, J, wanted, linear, factor, 1.0, g, H)
    curvature = slope = 0.0
    for j in range(n):
        curvature += H[j, j] / n
        slope = max(slope, abs(g[j]))
    unit = max(curvature, 1e-3 * slope, 1e-12)
    cost = cost_of(f, J, wanted, linear, factor, unit, g, H)
    bound_distances(f, rows, bounds, below, above)
    scaled_rows(J, rows, bounds, A)
    violation = violation_of(below, above)
    best, damping, iteration, flag, fresh = cost, 1e-2, 0, CONVERGED, True
    weight = SLACK_WEIGHT
    while True:
        if iteration >= limit:
            flag = ITERATION_LIMIT
            break
        step_bounds(at, x, limits, farthest, low, high)
        K[:] = H
        K += bfgs_correction
        for a in range(n):
            K[a, a] += damping
        if not solve_qp(K, g, A, below, above, weight, low, high, d, y):
            if np.any(bfgs_correction):
                bfgs_correction[:] = 0.0      # not positive definite: begin to learn anew
                continue
            break
        worth = longest = let_through = 0.0
        for i in range(n, n + k):
            worth = max(worth, abs(y[i]))
            let_through += y[i] * y[i] / weight
        for j in range(n):
            longest = max(longest, abs(d[j]))
        # a merit that charges less than the rows are worth has its least off them
        penalty = max(PENALTY, 1.5 * worth)
        predicted = predicted_gain(g, H, bfgs_correction, d, A, below, above, violation, penalty)
        if predicted <= GAIN * (1.0 + abs(cost)) or longest < LEAST_STEP or damping > 1e8:
            if fresh:
                if let_through <= GAIN * (1.0 + abs(cost)) or weight >= STIFFEST:
                    break
                weight *= 100.0       # the step leaves the rows, and must not for what it gains
                damping = 1e-2
                continue
            # what was learnt may mislead: it is a minimum if it is one without, too
            bfgs_correction[:] = 0.0
            damping, fresh = 1e-2, True
            continue
        iteration += 1
        after[:] = x
        moved[:] = d
        ratio = cost_after = violation_after = 0.0
        going, share, leads_back = True, 1.0, False
        for turn in range(TRIES):
            move(at, after, back if leads_back else moved, limits)
            going = fill(at, parameters, addresses, after, work, f_after, J_after)
            if not going:
                break
            cost_after = cost_of(f_after, J_after, wanted, linear, factor, unit, g_after, H_after)
            bound_distances(f_after, rows, bounds, below_after, above_after)
            scaled_rows(J_after, rows, bounds, A_after)
            violation_after = violation_of(below_after, above_after)
            gain = cost - cost_after + penalty * (violation - violation_after)
            ratio = gain / (share * predicted)
            if leads_back:
                for j in range(n):
                    moved[j] += back[j]
            if ratio >= ENOUGH and (turn or ratio >= 0.5
                                    or penalty * violation_after <= 0.1 * predicted):
                break
            if turn == 0:
                # the rows' curvature ate the gain: lead the step back onto them
                step_bounds(at, after, limits, farthest, low, high)
                leads_back = solve_qp(one, zero, A, below_after, above_after, weight, low, high,
                                      back, y_back)
                if leads_back:
                    continue
            leads_back = False
            # where a parabola through both ends and the slope at the first one is lowest
            share *= min(max(0.5 / (1.0 - ratio), 0.1), 0.5) if ratio < 0 else 0.5
            after[:] = x
            for j in range(n):
                moved[j] = share * d[j]
        if not going:
            flag = INTERRUPTED
            break
        for j in range(n):
            change[j] = g_after[j] - g[j]
            for i in range(k):
                change[j] += y[n + i] * (A_after[i, j] - A[i, j])
        update_bfgs(bfgs_correction, H_after if ratio > 1e-4 else H, moved, change)
        if ratio > 1e-4:
            fresh = False
            x[:] = after
            g[:] = g_after
            H[:] = H_after
            A[:] = A_after
            below[:] = below_after
            above[:] = above_after
            cost, violation = cost_after, violation_after
            if cost < best and bound_distances(f_after, rows, bounds, below_after, above_after)[1]:
                best = cost
                best_x[:] = x
        if share < 0.3 or ratio <= 1e-4:
            damping *= 4.0
        elif share == 1.0 and ratio > 0.4:
            damping *= 0.3
    last[:] = x
    x[:] = best_x
    return best * unit, cost * unit, iteration, flag
