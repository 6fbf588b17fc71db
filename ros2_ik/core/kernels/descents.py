"""Bounds of rows and bookkeeping of a descent, shared by the loops of several solvers."""

from ros2_ik.core.kernels.source import inner_part, part

# numbers of ExitFlag
CONVERGED, ITERATION_LIMIT, STEP_TOO_SMALL, ERROR_CHANGE_TOO_SMALL = 1, 2, 4, 5
INTERRUPTED = -1                # by a Python callback, which stored the reason
FARTHEST = 1e8                  # largest violation of a row that counts: squares would overflow
MOST = 100.0                    # largest squared error that damps: a floating base may be far away


@inner_part
def bound_distances(f, rows, bounds, below, above):
    """
    Fill `below` (k,) and `above` (k,) with lower bound - value and upper bound - value of `rows`.

    The rows of `bounds` (4, k) are lower bound, upper bound, tolerance and scale; a value is scale
    times its element of f (m,), the other three refer to the scaled value. Return the sum of
    squared violations, and whether all violations are within their tolerance.
    """
    total, holds = 0.0, True
    for i in range(len(rows)):
        value = bounds[3, i] * f[rows[i]]
        below[i], above[i] = bounds[0, i] - value, bounds[1, i] - value
        # signed violation: positive below the lower bound, negative above the upper bound
        away = min(max(below[i], 0.0) + min(above[i], 0.0), FARTHEST)
        away = max(away, -FARTHEST)
        total += away * away
        # value - value is NaN for NaN and infinity
        holds = holds and abs(away) <= bounds[2, i] and value - value == 0
    return total, holds


@inner_part
def update_best(x, error, best_x, best, stall, iteration, limit, patience, drop):
    """
    Copy x to best_x if its error is the smallest one yet; decide whether the descent continues.

    Return the smallest squared error, the number of iterations in a row without a decrease of the
    error by the factor `drop`, and an exit flag, 0 to continue.
    """
    stall = 0 if error < drop * best else stall + 1
    if error < best:
        best = error
        for i in range(len(x)):
            best_x[i] = x[i]
    if iteration >= limit:
        return best, stall, ITERATION_LIMIT
    return best, stall, ERROR_CHANGE_TOO_SMALL if stall >= patience else 0


@part
def scaled_rows(J, rows, bounds, out):
    """Fill `out` (k, n) with the Jacobian of the scaled rows; see `bound_distances`."""
    for i in range(len(rows)):
        for j in range(J.shape[1]):
            out[i, j] = bounds[3, i] * J[rows[i], j]
