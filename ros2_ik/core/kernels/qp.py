"""A dense solver of small quadratic programs with bounded variables (box) and soft rows."""

from collections import namedtuple
import math

import numpy as np

from ros2_ik.core.kernels.source import inner_part, part

FEASIBLE = 1e-10  # tolerance of a bound, relative to 1 + |bound|
CHANGES = 10      # largest number of working-set changes per row; many more than are needed
STIFFEST = 1e10   # largest weight * |row|^2 that a row adds to H: more would drown H in rounding
QP = namedtuple('QP', 'H g A lower upper weight low high')      # see `solve_qp`


@inner_part
def factorize(A):
    """
    Overwrite the lower half of A (n, n) with L of A = L^T L; False if not positive definite.

    Elimination from the last column to the first keeps zeros: if joints come after their parents,
    an element that is zero in A because of the tree's branches is zero in L too (Featherstone,
    "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", IJRR
    2005). L's diagonal is stored as reciprocals.
    """
    for k in range(len(A) - 1, -1, -1):
        if not A[k, k] > 0:
            return False
        A[k, k] = inverse = 1.0 / math.sqrt(A[k, k])
        for i in range(k):
            A[k, i] *= inverse
        # eliminate: skip the zeros of other branches
        for i in range(k):
            factor = A[k, i]
            if factor != 0:
                for j in range(i + 1):
                    A[i, j] -= factor * A[k, j]
    return True


@inner_part
def solve_upper(L, b, count):
    """Overwrite b (n,) with L^-T b; b must be zero from index `count` on."""
    for k in range(count - 1, -1, -1):
        value = b[k] = b[k] * L[k, k]
        if value != 0:
            for i in range(k):
                b[i] -= L[k, i] * value


@inner_part
def solve_lower(L, b):
    """Overwrite b (n,) with L^-1 b."""
    for i in range(len(b)):
        value = b[i]
        for j in range(i):
            value -= L[i, j] * b[j]
        b[i] = value * L[i, i]


@inner_part
def solve(L, b):
    """Overwrite b (n,) with (L^T L)^-1 b."""
    solve_upper(L, b, len(b))
    solve_lower(L, b)


@inner_part
def row_times(A, i, x):
    """Return the product of row i of A and x (n,)."""
    value = 0.0
    for j in range(len(x)):
        value += A[i, j] * x[j]
    return value


@part
def append(M, rows, position, softness, F, D):
    """
    Extend the working set, and its factorization F D F^T = M M^T + softness, by one row.

    The new row is M[rows[position]]; `softness` is added to its diagonal element. Return False if
    the row is linearly dependent on the previous rows, up to rounding.
    """
    n, one = M.shape[1], M[rows[position]]
    squared = norm = 0.0
    for k in range(n):
        norm += one[k] * one[k]
    # row `position` of F by forward substitution
    for j in range(position):
        other, value = M[rows[j]], 0.0
        for k in range(n):
            value += one[k] * other[k]
        for k in range(j):
            value -= F[j, k] * D[k] * F[position, k]
        F[position, j] = value / D[j]
        squared += value * F[position, j]
    D[position] = norm + softness - squared
    return D[position] > 1e-15 * norm


@part
def target_multipliers(F, D, bound, count, out):
    """Fill `out` with the multipliers at which all rows of the working set are at their bounds."""
    # F D F^T out = -bound: forward substitution, diagonal, backward substitution
    for i in range(count):
        out[i] = -bound[i]
        for k in range(i):
            out[i] -= F[i, k] * out[k]
    for i in range(count):
        out[i] /= D[i]
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            out[i] -= F[k, i] * out[k]


@part
def primal_step(M, rows, multiplier, count, u):
    """Fill u (n,) with -M^T multiplier, the primal point for the working set's multipliers."""
    u[:] = 0.0
    for i in range(count):
        one = M[rows[i]]
        for j in range(len(u)):
            u[j] -= multiplier[i] * one[j]


@part
def drop_row(position, rows, side, bound, multiplier, count):
    """Remove the row at a position from the working set."""
    for i in range(position, count - 1):
        rows[i], side[i] = rows[i + 1], side[i + 1]
        bound[i], multiplier[i] = bound[i + 1], multiplier[i + 1]


@part
def add_row(row, value, weight, H, g):
    """Add 1/2 weight (row x - value)^2 to 1/2 x^T H x + g^T x; only H's lower half is filled."""
    for a in range(len(row)):
        slope = weight * row[a]
        if slope != 0:
            g[a] -= slope * value
            for b in range(a + 1):
                H[a, b] += slope * row[b]


@part
def squared_length(row):
    """Return the squared norm of a row."""
    squared = 0.0
    for value in row:
        squared += value * value
    return squared


@part
def stiffness(row, weight):
    """Return the weight of a row's slack, reduced if weight |row|^2 would exceed STIFFEST."""
    squared = squared_length(row)
    return weight if weight * squared <= STIFFEST else STIFFEST / squared


@part
def refine_active_set(qp, rows, side, count, x, y):
    """
    Fill x (n,) and y (n + m,) for the final working set; return False on numerical failure.

    Solves the primal form, with slacks as penalties: it stays accurate for conflicting rows,
    unlike the dual form of `solve_qp`. `rows` (j < n: variable j, n + i: row i of A) and `side`
    (-1: lower, 1: upper bound) are the working set.
    """
    H, g, A, lower, upper, weight, low, high = qp
    n, m = len(g), len(lower)
    K, h, fixed = H.copy(), g.copy(), np.zeros(n, dtype=np.bool_)
    # fix variables at their bounds; add equalities and rows of the working set as penalties
    for i in range(count):
        j = rows[i]
        if j < n:
            fixed[j] = True
            x[j] = low[j] if side[i] < 0 else high[j]
        else:
            add_row(A[j - n], lower[j - n] if side[i] < 0 else upper[j - n],
                    stiffness(A[j - n], weight), K, h)
    for i in range(m):
        if lower[i] == upper[i]:
            add_row(A[i], lower[i], stiffness(A[i], weight), K, h)
    # eliminate the fixed variables
    for a in range(n):
        h[a] = x[a] if fixed[a] else -h[a]
    for a in range(n):
        for b in range(a + 1):
            if fixed[a] != fixed[b]:
                if fixed[a]:
                    h[b] -= K[a, b] * x[a]
                else:
                    h[a] -= K[a, b] * x[b]
            if fixed[a] or fixed[b]:
                K[a, b] = 1.0 if a == b else 0.0
    if not factorize(K):
        return False
    solve(K, h)
    # clamp to the box: x may be outside by rounding
    finite = True
    for j in range(n):
        finite = finite and h[j] - h[j] == 0
        x[j] = min(max(h[j], low[j]), high[j])
    # multipliers: rows: weight times violation; fixed variables: minus the penalized cost's slope
    y[:n + m] = 0.0
    for i in range(m):
        value = row_times(A, i, x)
        y[n + i] = stiffness(A[i], weight) * (value - min(max(value, lower[i]), upper[i]))
    for a in range(n):
        if fixed[a]:
            y[a] = -g[a]
            for b in range(n):
                y[a] -= H[a, b] * x[b]
            for i in range(m):
                y[a] -= A[i, a] * y[n + i]
    return finite


@part
def solve_unconstrained(qp, L, v, x, y):
    """
    Fill x (n,) and y (n + m,) with the unconstrained optimum; False if a bound is violated.

    L is the factorization of H and v = L^-T g, where H and g include the equality rows.
    """
    _, _, A, lower, upper, weight, low, high = qp
    n, m = len(v), len(lower)
    for j in range(n):
        x[j] = -v[j]
    solve_lower(L, x[:n])
    for j in range(n):
        if not low[j] <= x[j] <= high[j]:
            return False
    y[:n + m] = 0.0
    for i in range(m):
        value = row_times(A, i, x)
        if lower[i] == upper[i]:
            y[n + i] = stiffness(A[i], weight) * (value - lower[i])
        elif not lower[i] <= value <= upper[i]:
            return False
    return True


@part
def solve_qp(qp, x, y):
    """
    Fill x (n,) with the minimizer of 1/2 x^T H x + g^T x + 1/2 weight |slack|^2.

    The constraints are low <= x <= high (hard) and lower <= A x + slack <= upper (m,). H must be
    positive definite. Fill y (n + m,) with the multipliers of box and rows, positive at an upper
    bound. Return False if the problem cannot be solved numerically.

    A dual active-set method: with H = L^T L and u = L x + L^-T g, minimize |u|. Start at the
    unconstrained optimum; repeatedly add the most violated row to the working set, and drop rows
    whose multiplier would change its sign. Sources: Goldfarb and Idnani, "A numerically stable
    dual method for solving strictly convex quadratic programs", Mathematical Programming 27, 1983;
    Arnstrom et al., "A dual active-set solver for embedded quadratic programming using recursive
    LDL^T updates", IEEE TAC 2022.
    """
    H, g, A, lower, upper, weight, low, high = qp
    n, m = len(g), len(lower)
    # reject NaN and infinity
    if not math.isfinite(H.sum() + g.sum() + A.sum()):
        return False
    L, v, M, norm = H.copy(), g.copy(), np.zeros((n + m, n)), np.empty(n + m)
    # rows with equal bounds are always active: add them to the cost
    for i in range(m):
        if lower[i] == upper[i]:
            add_row(A[i], lower[i], stiffness(A[i], weight), L, v)
    if not factorize(L):
        return False
    solve_upper(L, v, n)
    if solve_unconstrained(qp, L, v, x, y):
        return True
    least_value, most_value = np.empty(n + m), np.empty(n + m)
    used = np.zeros(n + m, dtype=np.bool_)
    # box and rows in terms of u: least_value <= M u <= most_value, with M = [I; A] L^-1
    for i in range(n + m):
        if i < n:
            M[i, i] = 1.0
            solve_upper(L, M[i], i + 1)
        else:
            M[i] = A[i - n]
            solve_upper(L, M[i], n)
        shift = squared = 0.0
        for k in range(n):
            shift += M[i, k] * v[k]
            squared += M[i, k] * M[i, k]
        norm[i] = math.sqrt(squared)
        least_value[i] = (low[i] if i < n else lower[i - n]) + shift
        most_value[i] = (high[i] if i < n else upper[i - n]) + shift
        used[i] = i >= n and lower[i - n] == upper[i - n]
    k = n + m
    rows, side = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    bound, multiplier, target = np.empty(k), np.empty(k), np.empty(k)
    F, D, u = np.empty((k, k)), np.empty(k), np.empty(n)
    count, factored, softness = 0, 0, 1.0 / weight
    for _ in range(CHANGES * (k + 1)):
        # factorize the rows that joined the working set
        while factored < count:
            if append(M, rows, factored, softness if rows[factored] >= n else 0.0, F, D):
                factored += 1
            else:
                # linearly dependent: this row follows from the previous rows
                drop_row(factored, rows, side, bound, multiplier, count)
                count -= 1
        # dual step towards the target multipliers, until the first one would change its sign
        target_multipliers(F, D, bound, count, target)
        first, step = -1, 1.0
        for i in range(count):
            if side[i] * target[i] < 0:
                share = multiplier[i] / (multiplier[i] - target[i])
                if first < 0 or share < step:
                    first, step = i, share
        for i in range(count):
            multiplier[i] += step * (target[i] - multiplier[i])
        # the row of that multiplier leaves the working set
        if first >= 0:
            used[rows[first]] = False
            drop_row(first, rows, side, bound, multiplier, count)
            count, factored = count - 1, first
            continue
        # primal point, and the row that violates its bound most, relative to the row's norm
        primal_step(M, rows, multiplier, count, u)
        worst, most = -1, 0.0
        for i in range(k):
            if used[i] or norm[i] == 0:
                continue
            value = row_times(M, i, u)
            below, above = least_value[i] - value, value - most_value[i]
            missed = max(below, above)
            nearest = least_value[i] if below > above else most_value[i]
            if missed > FEASIBLE * (1.0 + abs(nearest)) and missed / norm[i] > most:
                worst, most = i, missed / norm[i]
                side[count], bound[count] = (-1 if below > above else 1), nearest
        # no violation: optimal
        if worst < 0:
            return refine_active_set(qp, rows, side, count, x, y)
        rows[count], multiplier[count], used[worst] = worst, 0.0, True
        count += 1
    return False
