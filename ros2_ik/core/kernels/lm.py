"""The Levenberg-Marquardt descent of solvers/lm.py, for rows with bounds and limited variables."""

import numpy as np

from ros2_ik.core.kernels.descents import (
    bound_distances,
    CONVERGED,
    INTERRUPTED,
    MOST,
    STEP_TOO_SMALL,
    update_best,
)
from ros2_ik.core.kernels.qp import factorize, solve
from ros2_ik.core.kernels.rows import fill_slopes, fill_values, move, step_bounds
from ros2_ik.core.kernels.source import inner_part


@inner_part
def step_within(H, g, low, high, K, d, held, at_once):
    """
    Fill d (n,) with the solution of H d = g in the box low..high, by an active-set iteration.

    Components at a limit that the solution would cross are held at 0. With `at_once` the first
    active set is predicted from the gradient (Bertsekas, "Projected Newton methods for
    optimization problems with simple constraints", SIAM J. Control 1982): usually the same set,
    with fewer factorizations. K (n, n) and `held` (n,) are scratch.
    """
    n = len(g)
    # predict the active set: components at a limit whose descent direction is outward
    for i in range(n):
        held[i] = at_once and (g[i] < 0 and low[i] == 0 or g[i] > 0 and high[i] == 0)
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
        # hold components that leave a limit, and solve again
        more = False
        for i in range(n):
            if not held[i] and (d[i] < 0 and low[i] == 0 or d[i] > 0 and high[i] == 0):
                held[i] = more = True
        if not more:
            break
    # components that start inside the box end at its limits
    for i in range(n):
        d[i] = min(max(d[i], low[i]), high[i])


@inner_part
def normal_equations(J, rows, bounds, below, above, H, g, slopes):
    """
    Fill the lower half of H = J^T J (n, n) and g = J^T e (n,), with e the violations of `rows`.

    Rows strictly inside their bounds do not count. `slopes` (n,) is scratch.
    """
    n = len(g)
    H[:] = 0.0
    g[:] = 0.0
    for i in range(len(rows)):
        away = max(below[i], 0.0) + min(above[i], 0.0)
        if away == 0 and below[i] != above[i]:
            continue
        # the scaled row in contiguous memory, which is faster to read
        for a in range(n):
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
    Descend from x (nx,); on return x holds the best values found.

    `at` and `work` are a program's layout and scratch, `limits` (2, nx) the limits of x. See
    `bound_distances` for `rows` and `bounds`. `options` (6,) are damping factor, damping bias,
    patience (iterations in a row without a decrease of the squared error by the factor `drop`),
    drop, and MATLAB's tolerances of solution and step (0: none).

    Return the squared error, the number of iterations (at most `limit`) and the exit flag.
    """
    n, m = at.columns, at.rows
    damping, bias, patience, drop, solved, shortest = (options[0], options[1], options[2],
                                                       options[3], options[4], options[5])
    # views of few arrays: an allocation takes as long as a hundred additions
    J, squares, vectors, values = np.zeros((m, n)), np.empty((2, n, n)), np.zeros((6, n)), \
        np.empty((3, m))
    H, K, g, d, low, high, slopes, farthest = squares[0], squares[1], vectors[0], vectors[1], \
        vectors[2], vectors[3], vectors[4], vectors[5]
    f, below, above = values[0], values[1], values[2]
    farthest[:] = np.inf
    held, best_x = np.zeros(n, dtype=np.bool_), x.copy()
    best = np.inf
    stall, iteration, flag = 0, 0, 0
    while True:
        # values of the rows; the Jacobian only if the descent continues
        if not fill_values(at, parameters, addresses, x, work, f, J):
            flag = INTERRUPTED
            break
        error, holds = bound_distances(f, rows, bounds, below, above)
        if (error < solved * solved) if solved > 0 else holds:
            return error, iteration, CONVERGED
        best, stall, flag = update_best(x, error, best_x, best, stall, iteration, limit, patience,
                                        drop)
        if shortest > 0 and iteration > 0 and np.abs(d).max() < shortest:
            flag = STEP_TOO_SMALL
        if flag:
            break
        # Gauss-Newton system and the box of the step
        fill_slopes(at, work, J)
        normal_equations(J, rows, bounds, below, above, H, g, slopes)
        step_bounds(at, x, limits, farthest, low, high)
        # damping proportional to the squared error, after Sugihara, "Solvability-unconcerned
        # inverse kinematics by the Levenberg-Marquardt method", IEEE T-RO 2011
        for a in range(n):
            H[a, a] += damping * min(error, MOST) + bias
        step_within(H, g, low, high, K, d, held, at.entries > 1)
        move(at, x, d, limits)
        iteration += 1
    x[:] = best_x
    return best, iteration, flag
