"""The descent of solvers/lm.py."""

import math

import numpy as np

from ros2_ik.core.kernels.descents import (
    bound_distances,
    CONVERGED,
    ERROR_CHANGE_TOO_SMALL,
    INTERRUPTED,
    MOST,
    STEP_TOO_SMALL,
    update_best,
)
from ros2_ik.core.kernels.qp import factorize, solve
from ros2_ik.core.kernels.rows import fill_slopes, fill_values, move, step_bounds
from ros2_ik.core.kernels.source import inner_part, part

PARTS = 'i8[::1], f8[::1], i8[::1]'    # of `Parts`: places, numbers, addresses
NUMBERS, LAYOUT, ADDRESSES, GIVEN, VALUES, ROWS, BOUNDS = range(7)    # columns of their table


@inner_part
def step_within(H, g, low, high, K, d, held, at_once):
    """
    Fill d with H d = g within low..high; a component that leaves a limit is held there.

    With `at_once` that is from the first what the gradient pushes outward (Bertsekas, "Projected
    Newton methods for optimization problems with simple constraints", SIAM J. Control 1982): it
    mostly is the same, and takes fewer factorizations.
    """
    n = len(g)
    for i in range(n):
        held[i] = at_once and (g[i] < 0 and low[i] == 0 or g[i] > 0 and high[i] == 0)
    for _ in range(4):
        for i in range(n):
            d[i] = g[i]
            for j in range(i + 1):
                K[i, j] = H[i, j]
        for i in range(n):
            if held[i]:    # as if its row and column were those of the identity
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
        more = False
        for i in range(n):
            if not held[i] and (d[i] < 0 and low[i] == 0 or d[i] > 0 and high[i] == 0):
                held[i] = more = True
        if not more:
            break
    for i in range(n):
        d[i] = min(max(d[i], low[i]), high[i])


@inner_part
def has_ended(g, low, high, d, error, before, iteration, options):
    """Judge by MATLAB's tolerances; 0 where a descent goes on. d is the step that led here."""
    least, short, same = options[5], options[6], options[7]
    length = math.sqrt(error)
    if least > 0:
        steepest = 0.0
        for i in range(len(g)):
            steepest = max(steepest, abs(min(max(g[i], low[i]), high[i])))
        if steepest < least * min(1.0, length):
            return ERROR_CHANGE_TOO_SMALL
    if iteration == 0:
        return 0
    if short > 0:
        longest = 0.0
        for i in range(len(d)):
            longest = max(longest, abs(d[i]))
        if longest < short:
            return STEP_TOO_SMALL
    if same > 0 and abs(math.sqrt(before) - length) < same:
        return ERROR_CHANGE_TOO_SMALL
    return 0


@inner_part
def normal_equations(J, rows, bounds, below, above, H, g, slopes):
    """Fill H = J^T J, its lower half, and g = J^T e of the `rows` that ask for something."""
    n = len(g)
    H[:] = 0.0
    g[:] = 0.0
    for i in range(len(rows)):
        away = max(below[i], 0.0) + min(above[i], 0.0)
        if away == 0 and below[i] != above[i]:
            continue
        for a in range(n):    # in a row of their own, which is faster to read
            slopes[a] = bounds[3, i] * J[rows[i], a]
        for a in range(n):
            slope = slopes[a]
            if slope != 0:
                g[a] += slope * away
                for b in range(a + 1):
                    H[a, b] += slope * slopes[b]


@inner_part
def descend_from(at, parameters, addresses, x, limits, rows, bounds, options, limit, work):
    """
    Descend from x (nx,), which is left at the best values seen.

    For `limits` see `move`. `options` are damping, its bias, how many iterations in a row may not
    lower the squared error by the factor `drop`, that factor, and MATLAB's solution, gradient,
    step and error change tolerances (0: none). Returns the squared error, the number of
    iterations, at most `limit`, and the exit flag.
    """
    n, m = at.columns, at.rows
    damping, bias, patience, drop, solved = (options[0], options[1], options[2], options[3],
                                             options[4])
    # few arrays: to make one takes as long as a hundred sums
    J, squares, vectors, values = np.zeros((m, n)), np.empty((2, n, n)), np.zeros((6, n)), \
        np.empty((3, m))
    H, K, g, d, low, high, slopes, farthest = squares[0], squares[1], vectors[0], vectors[1], \
        vectors[2], vectors[3], vectors[4], vectors[5]
    f, below, above = values[0], values[1], values[2]
    farthest[:] = np.inf
    held, best_x = np.zeros(n, dtype=np.bool_), x.copy()
    best = before = np.inf
    stall, iteration, flag = 0, 0, 0
    while True:
        if not fill_values(at, parameters, addresses, x, work, f, J):
            flag = INTERRUPTED
            break
        error, holds = bound_distances(f, rows, bounds, below, above)
        if (error < solved * solved) if solved > 0 else holds:
            return error, iteration, CONVERGED
        best, stall, flag = update_best(x, error, best_x, best, stall, iteration, limit, patience,
                                        drop)
        if flag:
            break
        fill_slopes(at, work, J)
        normal_equations(J, rows, bounds, below, above, H, g, slopes)
        step_bounds(at, x, limits, farthest, low, high)
        flag = has_ended(g, low, high, d, error, before, iteration, options)
        if flag:
            break
        before = error
        for a in range(n):
            H[a, a] += damping * min(error, MOST) + bias
        step_within(H, g, low, high, K, d, held, at.entries > 1)
        move(at, x, d, limits)
        iteration += 1
    x[:] = best_x
    return best, iteration, flag


@part
def table_of(places):
    """Return where the data of each part begin, see `Parts`."""
    return places[1:8 + 7 * places[0]].reshape(places[0] + 1, 7)
