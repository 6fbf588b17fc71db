"""The descents of solvers/sqp.py: first to feasible rows, then to lower cost."""

import numpy as np

from ros2_ik.core.kernels.descents import (
    bound_distances,
    CONVERGED,
    descend_from,
    HARD_ROWS,
    INTERRUPTED,
    ITERATION_LIMIT,
    scaled_rows,
)
from ros2_ik.core.kernels.qp import QP, row_times, solve_qp, STIFFEST
from ros2_ik.core.kernels.rows import fill, functions_of, move, PROGRAM, step_bounds, work_of
from ros2_ik.core.kernels.source import loop, part

SLACK_WEIGHT = 1e8      # initial weight of the hard rows' slack in a QP
PENALTY = 1.0           # least penalty of a violation in the merit function
GAIN = 1e-8             # least useful predicted decrease of the merit, relative to 1 + |cost|
LEAST_STEP = 1e-9       # the descent ends if a step moves every joint by less [rad, m]
TRIES = 8               # largest number of steps tried in a line search
ENOUGH = 0.1            # fraction of the predicted gain at which a step is accepted


@loop(f'Tuple((f8, i8, i8, i8, i8))({PROGRAM}, f8[:,::1], f8[:,::1], f8[::1], {HARD_ROWS}, '
      'f8[::1], i8, i8)')
def find_feasible(program, starts, limits, farthest, hard_rows, options, limit, most):
    """
    Descend from `starts` (k, nx), one after another, until all rows are within their tolerance.

    See `descend_from`; a descent takes at most `limit` iterations, all descents together `most`.
    Each start that was used is overwritten with the best values of its descent.

    Return the squared violation, exit flag and index of the best start, then the counts of
    iterations and of starts used.
    """
    functions = functions_of(program)
    work = work_of(functions.layout)
    best, best_flag, best_start, iterations, used, flag = np.inf, 0, 0, 0, 0, 0
    while used < len(starts):
        error, done, flag = descend_from(functions, starts[used], limits, farthest, hard_rows,
                                         options, min(limit, most - iterations), work)
        if used == 0 or flag == CONVERGED or error < best:
            best, best_flag, best_start = error, flag, used
        iterations, used = iterations + done, used + 1
        if flag == CONVERGED or flag == INTERRUPTED or iterations >= most:
            break
    return best, INTERRUPTED if flag == INTERRUPTED else best_flag, best_start, iterations, used


@part
def cost_of(f, J, costs, unit, g, H):
    """
    Return the cost at values f (m,); fill its gradient g (n,) and Gauss-Newton matrix H (n, n).

    cost = 1/2 |factor residual|^2 + linear . f; residual (m,) is the signed distance of f from its
    target interval. `costs` has the ends of these intervals (2, m), the weights `linear` (m,) of
    scalar costs, and `factor` (k, m), a root of the weight matrix (factor^T factor). All results
    are divided by `unit`.
    """
    (targets, linear, factor), (m, n) = costs, J.shape
    slope = np.empty(n)
    total = 0.0
    g[:] = 0.0
    H[:] = 0.0
    # scalar costs
    for i in range(m):
        if linear[i] != 0:
            total += linear[i] * f[i]
            for j in range(n):
                g[j] += linear[i] * J[i, j]
    # least squares: residual r and its slope for each row of the factor
    for k in range(len(factor)):
        r = 0.0
        slope[:] = 0.0
        for i in range(m):
            if factor[k, i] != 0:
                residual = f[i] - min(max(f[i], targets[0, i]), targets[1, i])
                # a row within its interval costs nothing
                if residual != 0 or targets[0, i] == targets[1, i]:
                    r += factor[k, i] * residual
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
    """Return the sum of the rows' violations (1-norm); see `bound_distances`."""
    total = 0.0
    for i in range(len(below)):
        total += max(below[i], 0.0) + max(-above[i], 0.0)
    return total


@part
def update_bfgs(bfgs_correction, H, s, y):
    """
    Apply Powell's damped BFGS update to H + bfgs_correction (n, n); change only the latter.

    s (n,) is the step, y (n,) the change of the Lagrangian's gradient (Nocedal and Wright,
    "Numerical Optimization", procedure 18.2).
    """
    n = len(s)
    As = np.empty(n)
    sAs = sy = 0.0
    # As = (H + correction) s, slightly regularized
    for a in range(n):
        As[a] = 1e-8 * s[a]
        for b in range(n):
            As[a] += (H[a, b] + bfgs_correction[a, b]) * s[b]
        sAs += s[a] * As[a]
        sy += s[a] * y[a]
    if not sAs > 1e-16:
        return
    # damping: y is mixed with As so that the matrix stays positive definite
    share = 1.0 if sy >= 0.2 * sAs else 0.8 * sAs / (sAs - sy)
    sy = share * sy + (1.0 - share) * sAs
    for a in range(n):
        for b in range(n):
            ya, yb = share * y[a] + (1 - share) * As[a], share * y[b] + (1 - share) * As[b]
            bfgs_correction[a, b] += ya * yb / sy - As[a] * As[b] / sAs


@part
def predicted_gain(H, g, d, A, below, above, violation, penalty):
    """Return the decrease of the merit that the quadratic model predicts for a step d (n,)."""
    n = len(d)
    gain = penalty * violation
    # cost
    for a in range(n):
        gain -= g[a] * d[a]
        for b in range(n):
            gain -= 0.5 * d[a] * H[a, b] * d[b]
    # violation of the linearized rows after the step
    for i in range(len(below)):
        value = row_times(A, i, d)
        gain -= penalty * (max(below[i] - value, 0.0) + max(value - above[i], 0.0))
    return gain


@loop(f'Tuple((f8, f8, i8, i8))({PROGRAM}, f8[::1], f8[:,::1], f8[::1], {HARD_ROWS}, '
      'Tuple((f8[:,::1], f8[::1], f8[:,::1])), i8, f8[::1])')
def lower_cost(program, x, limits, farthest, hard_rows, costs, limit, last):
    """
    Lower the cost (see `cost_of`) from a feasible x (nx,), in at most `limit` iterations.

    On return x holds the best feasible values, and `last` (nx,) the last values, which may violate
    the rows slightly. Return the best and the last cost, the number of iterations and the exit
    flag. See `find_feasible` for the other arguments.
    """
    functions, k = functions_of(program), len(hard_rows[0])
    at, n, m = functions.layout, functions.layout.columns, functions.layout.rows
    work = work_of(at)
    f, J, f_after, J_after = np.empty(m), np.zeros((m, n)), np.empty(m), np.zeros((m, n))
    g, H, g_after, H_after = np.empty(n), np.empty((n, n)), np.empty(n), np.empty((n, n))
    A, A_after, below, above = np.empty((k, n)), np.empty((k, n)), np.empty(k), np.empty(k)
    below_after, above_after = np.empty(k), np.empty(k)
    low, high, d, back = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    y, y_back = np.empty(n + k), np.empty(n + k)
    bfgs_correction, one, zero, moved = np.zeros((n, n)), np.eye(n), np.zeros(n), np.empty(n)
    after, best_x = x.copy(), x.copy()
    if not fill(functions, x, work, f, J):
        last[:] = x
        return np.inf, np.inf, 0, INTERRUPTED
    # unit of the cost: its mean Gauss-Newton curvature, at least 1e-3 of its largest slope, so
    # that damping and slack weights do not depend on the scale of the cost
    cost_of(f, J, costs, 1.0, g, H)
    unit = max(np.trace(H) / n, 1e-3 * np.abs(g).max(), 1e-12)
    cost = cost_of(f, J, costs, unit, g, H)
    bound_distances(f, hard_rows, below, above)
    scaled_rows(J, hard_rows, A)
    violation = violation_of(below, above)
    best, damping, iteration, flag, fresh = cost, 1e-2, 0, CONVERGED, True
    weight = SLACK_WEIGHT
    while True:
        if iteration >= limit:
            flag = ITERATION_LIMIT
            break
        # QP: step d and multipliers y of the damped model, subject to the linearized rows
        step_bounds(at, x, limits, farthest, low, high)
        model = H + bfgs_correction
        if not solve_qp(QP(model + damping * one, g, A, below, above, weight, low, high), d, y):
            # not positive definite: reset the BFGS matrix
            if np.any(bfgs_correction):
                bfgs_correction[:] = 0.0
                continue
            break
        largest_multiplier = slack_energy = 0.0
        for multiplier in y[n:]:
            largest_multiplier = max(largest_multiplier, abs(multiplier))
            slack_energy += multiplier * multiplier / weight
        # the L1 merit is exact only if its penalty exceeds the multipliers
        penalty = max(PENALTY, 1.5 * largest_multiplier)
        predicted = predicted_gain(model, g, d, A, below, above, violation, penalty)
        if predicted <= GAIN * (1.0 + abs(cost)) or np.abs(d).max() < LEAST_STEP or damping > 1e8:
            if fresh:
                if slack_energy <= GAIN * (1.0 + abs(cost)) or weight >= STIFFEST:
                    break
                # the cost makes the step violate the rows: increase the weight of their slack
                weight *= 100.0
                damping = 1e-2
                continue
            # the BFGS matrix may be wrong: confirm the minimum without it
            bfgs_correction[:] = 0.0
            damping, fresh = 1e-2, True
            continue
        # line search: try d, then d with a second-order correction, then shorter steps
        iteration += 1
        after[:] = x
        moved[:] = d
        ratio = cost_after = violation_after = 0.0
        going, share, leads_back = True, 1.0, False
        for turn in range(TRIES):
            move(at, after, back if leads_back else moved, limits)
            going = fill(functions, after, work, f_after, J_after)
            if not going:
                break
            cost_after = cost_of(f_after, J_after, costs, unit, g_after, H_after)
            bound_distances(f_after, hard_rows, below_after, above_after)
            scaled_rows(J_after, hard_rows, A_after)
            violation_after = violation_of(below_after, above_after)
            gain = cost - cost_after + penalty * (violation - violation_after)
            ratio = gain / (share * predicted)
            if leads_back:
                moved += back
            # end at a step that gains enough; the full step must gain half or hardly violate rows
            if turn == TRIES - 1 or ratio >= ENOUGH and (
                    turn or ratio >= 0.5 or penalty * violation_after <= 0.1 * predicted):
                break
            if turn == 0:
                # second-order correction: the shortest step back onto the curved rows
                step_bounds(at, after, limits, farthest, low, high)
                leads_back = solve_qp(QP(one, zero, A, below_after, above_after, weight, low,
                                         high), back, y_back)
                if leads_back:
                    continue
            leads_back = False
            # shorten to the minimum of a parabola with the merit's end values and initial slope
            share *= min(max(0.5 / (1.0 - ratio), 0.1), 0.5) if ratio < 0 else 0.5
            after[:] = x
            moved[:] = share * d
        if not going:
            flag = INTERRUPTED
            break
        # BFGS update with the change of the Lagrangian's gradient
        change = g_after - g
        for i in range(k):
            change += y[n + i] * (A_after[i] - A[i])
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
            if cost < best and bound_distances(f_after, hard_rows, below_after, above_after)[1]:
                best = cost
                best_x[:] = x
        # adapt the damping
        if share < 0.3 or ratio <= 1e-4:
            damping *= 4.0
        elif share == 1.0 and ratio > 0.4:
            damping *= 0.3
    last[:] = x
    x[:] = best_x
    return best * unit, cost * unit, iteration, flag
