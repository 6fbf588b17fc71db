"""Descents that bring rows within their bounds, by Levenberg-Marquardt steps or QPs."""

import numpy as np

from ros2_ik.core.kernels.qp import factorize, QP, solve, solve_qp
from ros2_ik.core.kernels.rows import fill_slopes, fill_values, move, step_bounds
from ros2_ik.core.kernels.source import inner_part, part

# values of ExitFlag
CONVERGED, ITERATION_LIMIT, STEP_TOO_SMALL, ERROR_CHANGE_TOO_SMALL = 1, 2, 4, 5
INTERRUPTED = -1                # by a Python callback, which stored the reason
MAX_VIOLATION = 1e8         # violations are clamped to this, so that no square overflows
MAX_DAMPING_ERROR = 100.0   # cap of the squared error in damping; floating bases can be far away
QP_INFINITY = 1e4           # bounds in a QP are clipped to this distance from the row's value
HARD_ROWS = 'Tuple((i8[::1], f8[:,::1]))'   # type of hard rows, see `bound_distances`


@inner_part
def bound_distances(f, hard_rows, below, above):
    """
    Fill `below` (k,) and `above` (k,) with lower bound - value, upper bound - value of hard rows.

    `hard_rows` has the rows' indices in f (m,), then `bounds` (4, k): lower bound, upper bound,
    tolerance and scale of each row. The value is f[row] times the scale; bounds and tolerance are
    in scaled units. Return the sum of squared violations, and whether all are within tolerance.
    """
    (rows, bounds), total, is_feasible = hard_rows, 0.0, True
    for i in range(len(rows)):
        value = bounds[3, i] * f[rows[i]]
        below[i], above[i] = bounds[0, i] - value, bounds[1, i] - value
        # signed violation: positive below the lower bound, negative above the upper bound
        violation = min(max(below[i], 0.0) + min(above[i], 0.0), MAX_VIOLATION)
        violation = max(violation, -MAX_VIOLATION)
        total += violation * violation
        # value - value is NaN for NaN and infinity
        is_feasible = is_feasible and abs(violation) <= bounds[2, i] and value - value == 0
    return total, is_feasible


@part
def scaled_rows(J, hard_rows, out):
    """Fill `out` (k, n) with the Jacobian of the scaled rows; see `bound_distances`."""
    rows, bounds = hard_rows
    for i in range(len(rows)):
        for j in range(J.shape[1]):
            out[i, j] = bounds[3, i] * J[rows[i], j]


@inner_part
def step_within(H, g, low, high, K, d, held, predict_active):
    """
    Fill d (n,) with the solution of H d = g in the box low..high, by an active-set iteration.

    Components at a limit that the solution would cross are held at 0. With `predict_active` the
    first active set is predicted from the gradient (Bertsekas, "Projected Newton methods for
    optimization problems with simple constraints", SIAM J. Control 1982): this is usually the
    final set, which saves factorizations. K (n, n) and `held` (n,) are scratch.
    """
    n = len(g)
    # predict the active set: components at a limit that the gradient would move outward
    for i in range(n):
        held[i] = predict_active and (g[i] < 0 and low[i] == 0 or g[i] > 0 and high[i] == 0)
    for _ in range(4):
        # copy the system; rows and columns of held components become those of the identity
        for i in range(n):
            d[i] = g[i]
            for j in range(i + 1):
                K[i, j] = H[i, j]
        for i in range(n):
            if held[i]:
                d[i] = 0.0
                for j in range(i):
                    K[i, j] = 0.0
                for j in range(i, n):
                    K[j, i] = 0.0
                K[i, i] = 1.0
        if not factorize(K):
            d[:] = 0.0
            return
        solve(K, d)
        # hold components that would cross their limit, and solve again
        more = False
        for i in range(n):
            if not held[i] and (d[i] < 0 and low[i] == 0 or d[i] > 0 and high[i] == 0):
                held[i] = more = True
        if not more:
            break
    # clamp components that would leave the box from its interior
    for i in range(n):
        d[i] = min(max(d[i], low[i]), high[i])


@inner_part
def normal_equations(J, hard_rows, below, above, H, g, slopes):
    """
    Fill the lower half of H = J^T J (n, n) and g = J^T e (n,), with e the rows' violations.

    Rows within bounds do not count, unless the two bounds are equal. `slopes` (n,) is scratch.
    """
    (rows, bounds), n = hard_rows, len(g)
    H[:], g[:] = 0.0, 0.0
    for i in range(len(rows)):
        violation = max(below[i], 0.0) + min(above[i], 0.0)
        if violation == 0 and below[i] != above[i]:
            continue
        # copy the scaled row to contiguous memory, which is faster to read
        for a in range(n):
            slopes[a] = bounds[3, i] * J[rows[i], a]
        for a in range(n):
            slope = slopes[a]
            if slope != 0:
                g[a] += slope * violation
                for b in range(a + 1):
                    H[a, b] += slope * slopes[b]


@part
def step_to_bounds(J, hard_rows, below, above, damping, low, high, d):
    """
    Fill d (n,) with the damped step in the box low..high that best brings hard rows within bounds.

    Return False if the quadratic program cannot be solved numerically. See `bound_distances`.
    """
    n, k = J.shape[1], len(below)
    A, y = np.empty((k, n)), np.empty(n + k)
    scaled_rows(J, hard_rows, A)
    # clip bounds to QP_INFINITY, which no step reaches: huge numbers would cost precision
    for i in range(k):
        below[i] = min(max(below[i], -QP_INFINITY), QP_INFINITY)
        above[i] = max(min(above[i], QP_INFINITY), -QP_INFINITY)
    return solve_qp(QP(damping * np.eye(n), np.zeros(n), A, below, above, 1.0, low, high), d, y)


@inner_part
def descend_from(functions, x, limits, farthest, hard_rows, options, limit, work):
    """
    Descend from x (nx,); on return x holds the best values found.

    `work` has scratch arrays (see `work_of`), `limits` (2, nx) are the limits of x, `farthest`
    (n,) the largest steps. See `bound_distances` for `hard_rows`. `options` (7,) are damping
    factor, damping bias, patience, drop, `lm`'s solution and step tolerance (0: none), and the
    kind of steps (0: Levenberg-Marquardt, 1: `step_to_bounds`). A descent ends after `patience`
    consecutive iterations with squared errors above drop times the lowest so far.

    Return the squared error, the number of iterations (at most `limit`) and the exit flag.
    """
    at, k = functions.layout, len(hard_rows[0])
    n, m = at.columns, at.rows
    damping, bias, patience, drop, solved, shortest = (options[0], options[1], options[2],
                                                       options[3], options[4], options[5])
    # views into a few arrays: an allocation takes as long as a hundred additions
    J, squares, vectors, values = np.zeros((m, n)), np.empty((2, n, n)), np.zeros((5, n)), \
        np.empty((3, m))
    H, K, g, d, low, high, slopes = squares[0], squares[1], vectors[0], vectors[1], vectors[2], \
        vectors[3], vectors[4]
    f, below, above = values[0], values[1, :k], values[2, :k]
    held, best_x = np.zeros(n, dtype=np.bool_), x.copy()
    best, stall, iteration, flag = np.inf, 0, 0, 0
    while True:
        # compute the values of the rows; the Jacobian only if the descent continues
        if not fill_values(functions, x, work, f, J):
            flag = INTERRUPTED
            break
        error, is_feasible = bound_distances(f, hard_rows, below, above)
        if (error < solved * solved) if solved > 0 else is_feasible:
            return error, iteration, CONVERGED
        stall = 0 if error < drop * best else stall + 1
        if error < best:
            best = error
            best_x[:] = x
        # stop: no joints, an error that is not finite, or a last step below its tolerance
        if n == 0 or error - error != 0 or (shortest > 0 and iteration > 0
                                            and np.abs(d).max() < shortest):
            flag = STEP_TOO_SMALL
        elif iteration >= limit or stall >= patience:
            flag = ITERATION_LIMIT if iteration >= limit else ERROR_CHANGE_TOO_SMALL
        if flag:
            break
        # Jacobian, box of the step, and damping in proportion to the squared error (see `lm`)
        fill_slopes(at, work, J)
        step_bounds(at, x, limits, farthest, low, high)
        weight = damping * min(error, MAX_DAMPING_ERROR) + bias
        if options[6] == 0:
            normal_equations(J, hard_rows, below, above, H, g, slopes)
            for a in range(n):
                H[a, a] += weight
            step_within(H, g, low, high, K, d, held, at.entries > 1)
        elif not step_to_bounds(J, hard_rows, below, above, weight, low, high, d):
            flag = STEP_TOO_SMALL
            break
        move(at, x, d, limits)
        iteration += 1
    x[:] = best_x
    return best, iteration, flag
