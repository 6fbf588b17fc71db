"""Hard rows, shared by the loops of several solvers."""

from ros2_ik.core.kernels.source import inner_part, part

CONVERGED, ITERATION_LIMIT, STEP_TOO_SMALL, ERROR_CHANGE_TOO_SMALL = 1, 2, 4, 5    # of ExitFlag
INTERRUPTED = -1                # by Python, which knows why
MANY = 10**9                    # iterations, where there is no bound
FARTHEST = 1e8                  # a value further from its bounds counts as this far
MOST = 100.0                    # a larger error damps no more: a base may be far away


@inner_part
def bound_distances(f, rows, bounds, below, above):
    """
    Fill how far `rows` of f are above their lower and below their upper bounds, (k,) each.

    `bounds` (4, k) are lower and upper bounds, tolerance and scale; bounds and tolerances are
    those of scaled rows. Returns the squared violation, and whether all is within tolerance.
    """
    total, holds = 0.0, True
    for i in range(len(rows)):
        value = bounds[3, i] * f[rows[i]]
        below[i], above[i] = bounds[0, i] - value, bounds[1, i] - value
        away = min(max(below[i], 0.0) + min(above[i], 0.0), FARTHEST)
        away = max(away, -FARTHEST)     # squares would overflow
        total += away * away
        # NaN is within no bounds
        holds = holds and abs(away) <= bounds[2, i] and value - value == 0
    return total, holds


@inner_part
def update_best(x, error, best_x, best, stall, iteration, limit, patience, drop):
    """
    Keep the best values seen, and judge whether a descent goes on.

    Returns the squared error of the best values, how many iterations in a row it has not dropped
    by the factor `drop`, and an exit flag, 0 to go on.
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
    """Fill the Jacobian (k, n) of the scaled rows."""
    for i in range(len(rows)):
        for j in range(J.shape[1]):
            out[i, j] = bounds[3, i] * J[rows[i], j]
