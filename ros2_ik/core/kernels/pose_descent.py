"""
Levenberg-Marquardt on poses of frames, compiled: the same steps as solvers/lm.py.

Compiled when imported, for one signature; needs numba.
"""

import math

import numba
import numpy as np

CONVERGED, ITERATION_LIMIT, ERROR_CHANGE_TOO_SMALL = 1, 2, 5    # of ExitFlag


@numba.njit('void(f8[:,::1], f8[:,::1], f8[:,::1])', cache=True, nogil=True)
def _multiply(a, b, out):
    """Product of two placements (4, 4); out may be neither."""
    for i in range(3):
        for j in range(4):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]
        out[i, 3] += a[i, 3]


@numba.njit('void(f8[:,::1], f8[::1])', cache=True, nogil=True)
def _log3(R, w):
    """Rotation vector w (3,) of the rotation part of R."""
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    s = 0.5 * math.sqrt(x * x + y * y + z * z)
    c = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(s, c)
    if s > 1e-4 or c > 0:
        # angle / (2 sin(angle)), by its series near zero
        factor = 0.5 * angle / s if s > 1e-7 else 0.5 + s * s / 12.0
        w[0], w[1], w[2] = factor * x, factor * y, factor * z
        return
    # near pi the axis is in the symmetric part
    k = 0
    if R[1, 1] > R[k, k]:
        k = 1
    if R[2, 2] > R[k, k]:
        k = 2
    length = 0.0
    for i in range(3):
        w[i] = 0.5 * (R[i, k] + R[k, i])
    w[k] -= c
    for i in range(3):
        length += w[i] * w[i]
    sign = 1.0 if w[0] * x + w[1] * y + w[2] * z >= 0 else -1.0
    for i in range(3):
        w[i] *= sign * angle / math.sqrt(length)


@numba.njit('void(f8[:,::1], f8[::1])', cache=True, nogil=True)
def _log6(T, e):
    """Screw motion e (6,) = [linear; angular] of a placement, as pinocchio.log6."""
    w = e[3:]
    _log3(T, w)
    squared = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = math.sqrt(squared)
    if angle < 1e-3:
        beta = 1.0 / 12.0 + squared / 720.0
        alpha = 1.0 - squared / 12.0 - squared * squared / 720.0
    else:
        half = 0.5 * angle
        alpha = half * math.cos(half) / math.sin(half)
        beta = (1.0 - alpha) / squared
    x, y, z = T[0, 3], T[1, 3], T[2, 3]
    along = beta * (w[0] * x + w[1] * y + w[2] * z)
    e[0] = alpha * x - 0.5 * (w[1] * z - w[2] * y) + along * w[0]
    e[1] = alpha * y - 0.5 * (w[2] * x - w[0] * z) + along * w[1]
    e[2] = alpha * z - 0.5 * (w[0] * y - w[1] * x) + along * w[2]


@numba.njit('void(f8[::1], f8[:,::1])', cache=True, nogil=True)
def _jlog3(w, out):
    """Fill out (3, 3): how the rotation vector changes by a turn about the rotated axes."""
    squared = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = math.sqrt(squared)
    if angle < 1e-3:
        alpha = 1.0 - squared / 12.0
        beta = 1.0 / 12.0 + squared / 720.0
    else:
        half = 0.5 * angle
        alpha = half * math.cos(half) / math.sin(half)
        beta = (1.0 - alpha) / squared
    for i in range(3):
        for j in range(3):
            out[i, j] = beta * w[i] * w[j]
        out[i, i] += alpha
    out[0, 1] -= 0.5 * w[2]
    out[0, 2] += 0.5 * w[1]
    out[1, 0] += 0.5 * w[2]
    out[1, 2] -= 0.5 * w[0]
    out[2, 0] -= 0.5 * w[1]
    out[2, 1] += 0.5 * w[0]


@numba.njit('void(f8[::1], f8[:,:,::1], f8[::1], i8[::1], f8[::1], f8[::1], f8[:,::1],'
            'f8[:,::1], f8[:,::1], f8[:,::1])', cache=True, nogil=True)
def _forward(x, before, rotary, column, multiplier, offset, after, axes, origins, tip):
    """Placement of the tip, and axis and origin of each joint, in the root frame."""
    at = np.eye(4)
    moved = np.eye(4)
    for k in range(len(column)):
        _multiply(at, before[k], moved)
        at, moved = moved, at
        value = multiplier[k] * x[column[k]] + offset[k]
        for i in range(3):
            axes[k, i] = at[i, 2]
        if rotary[k] > 0:
            c, s = math.cos(value), math.sin(value)
            for i in range(3):
                first, second = at[i, 0], at[i, 1]
                at[i, 0] = c * first + s * second
                at[i, 1] = c * second - s * first
        else:
            for i in range(3):
                at[i, 3] += value * at[i, 2]
        for i in range(3):
            origins[k, i] = at[i, 3]
    _multiply(at, after, tip)


@numba.njit('void(f8[:,::1], f8[:,::1], f8[:,::1])', cache=True, nogil=True)
def _relative(a, b, out):
    """Placement of b seen from a."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[0, i] * b[0, j] + a[1, i] * b[1, j] + a[2, i] * b[2, j]
        out[i, 3] = (a[0, i] * (b[0, 3] - a[0, 3]) + a[1, i] * (b[1, 3] - a[1, 3])
                     + a[2, i] * (b[2, 3] - a[2, 3]))


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], f8[::1], i8[::1], f8[:,::1], f8[:,::1],'
            'f8[:,::1], f8[:,::1], f8[::1])', cache=True, nogil=True)
def _whole_rows(tip, target, rotary, multiplier, column, axes, origins, J, error, e):
    """Rows of a whole pose: the screw motion from tip to target, in the tip's axes."""
    _relative(tip, target, error)
    _log6(error, e)
    for k in range(len(column)):
        zx, zy, zz, m = axes[k, 0], axes[k, 1], axes[k, 2], multiplier[k]
        if rotary[k] > 0:
            rx, ry, rz = (tip[0, 3] - origins[k, 0], tip[1, 3] - origins[k, 1],
                          tip[2, 3] - origins[k, 2])
            vx, vy, vz = zy * rz - zz * ry, zz * rx - zx * rz, zx * ry - zy * rx
            for i in range(3):
                J[3 + i, column[k]] += m * (tip[0, i] * zx + tip[1, i] * zy + tip[2, i] * zz)
        else:
            vx, vy, vz = zx, zy, zz
        for i in range(3):
            J[i, column[k]] += m * (tip[0, i] * vx + tip[1, i] * vy + tip[2, i] * vz)


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], f8[::1], i8[::1], f8[:,::1], f8[:,::1],'
            'f8[:,::1], f8[:,::1], f8[::1])', cache=True, nogil=True)
def _axis_rows(tip, target, rotary, multiplier, column, axes, origins, J, error, e):
    """Rows with position and orientation apart, along the target's axes."""
    _relative(target, tip, error)
    _log3(error, e[3:])
    turn = np.empty((3, 3))
    _jlog3(e[3:], turn)
    for i in range(3):
        e[i] = -error[i, 3]
        e[3 + i] = -e[3 + i]
    local = np.empty(3)
    for k in range(len(column)):
        zx, zy, zz, m = axes[k, 0], axes[k, 1], axes[k, 2], multiplier[k]
        if rotary[k] > 0:
            rx, ry, rz = (tip[0, 3] - origins[k, 0], tip[1, 3] - origins[k, 1],
                          tip[2, 3] - origins[k, 2])
            vx, vy, vz = zy * rz - zz * ry, zz * rx - zx * rz, zx * ry - zy * rx
            for i in range(3):
                local[i] = tip[0, i] * zx + tip[1, i] * zy + tip[2, i] * zz
            for i in range(3):
                J[3 + i, column[k]] += m * (turn[i, 0] * local[0] + turn[i, 1] * local[1]
                                            + turn[i, 2] * local[2])
        else:
            vx, vy, vz = zx, zy, zz
        for i in range(3):
            J[i, column[k]] += m * (target[0, i] * vx + target[1, i] * vy + target[2, i] * vz)


@numba.njit('b1(f8[:,::1], f8[::1], i8)', cache=True, nogil=True)
def _solve(A, g, n):
    """Solve A d = g for a positive definite A by Cholesky, in place; False where it is not."""
    for j in range(n):
        diagonal = A[j, j]
        for k in range(j):
            diagonal -= A[j, k] * A[j, k]
        if not diagonal > 0:
            return False
        diagonal = math.sqrt(diagonal)
        A[j, j] = diagonal
        for i in range(j + 1, n):
            value = A[i, j]
            for k in range(j):
                value -= A[i, k] * A[j, k]
            A[i, j] = value / diagonal
    for i in range(n):
        value = g[i]
        for k in range(i):
            value -= A[i, k] * g[k]
        g[i] = value / A[i, i]
    for i in range(n - 1, -1, -1):
        value = g[i]
        for k in range(i + 1, n):
            value -= A[k, i] * g[k]
        g[i] = value / A[i, i]
    return True


@numba.njit('void(f8[::1], f8[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[::1], b1[::1])',
            cache=True, nogil=True)
def _step(x, A, g, lower, upper, work, d, held):
    """Move x by A d = g within the limits; a joint pushed outward on a limit is held."""
    n = len(x)
    held[:] = False
    for _ in range(4):
        for i in range(n):
            d[i] = 0.0 if held[i] else g[i]
            for j in range(i + 1):
                work[i, j] = 0.0 if held[i] or held[j] else A[i, j]
            if held[i]:
                work[i, i] = 1.0
        if not _solve(work, d, n):
            return
        more = False
        for i in range(n):
            wanted = x[i] + d[i]
            clipped = min(max(wanted, lower[i]), upper[i])
            if clipped != wanted and clipped == x[i] and not held[i]:
                held[i] = True
                more = True
        if not more:
            break
    for i in range(n):
        x[i] = min(max(x[i] + d[i], lower[i]), upper[i])


@numba.njit('Tuple((f8, i8, i8))(f8[::1], f8[:,:,::1], f8[::1], i8[::1], f8[::1], f8[::1],'
            'i8[::1], f8[:,:,::1], f8[:,:,::1], b1[::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1],'
            'f8, i8, i8, f8)', cache=True, nogil=True)
def descend(x, before, rotary, column, multiplier, offset, first, after, targets, whole, weights,
            bounds, lower, upper, damping, limit, patience, drop):
    """
    Descend from x (n,), which is left at the best values seen.

    The joints of target t are rows first[t] to first[t + 1] of the chain arrays (see Chain).
    `bounds` (t, 2) are the squared tolerances of position and orientation. Gives the squared
    error, the number of iterations and the exit flag.
    """
    n, count = len(x), len(targets)
    longest = 0
    for t in range(count):
        longest = max(longest, first[t + 1] - first[t])
    axes, origins = np.empty((longest, 3)), np.empty((longest, 3))
    tip, error = np.eye(4), np.eye(4)
    e, J = np.empty(6), np.empty((6, n))
    A, work, g, d = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n)
    held = np.zeros(n, dtype=np.bool_)
    best_x = x.copy()
    best, stall, iteration = np.inf, 0, 0
    while True:
        A[:] = 0.0
        g[:] = 0.0
        total, reached = 0.0, True
        for t in range(count):
            part = slice(first[t], first[t + 1])
            _forward(x, before[part], rotary[part], column[part], multiplier[part], offset[part],
                     after[t], axes, origins, tip)
            J[:] = 0.0
            if whole[t]:
                _whole_rows(tip, targets[t], rotary[part], multiplier[part], column[part], axes,
                            origins, J, error, e)
            else:
                _axis_rows(tip, targets[t], rotary[part], multiplier[part], column[part], axes,
                           origins, J, error, e)
            for half in range(2):
                length = 0.0
                for i in range(3 * half, 3 * half + 3):
                    if weights[t, i] > 0:
                        length += e[i] * e[i]
                reached = reached and length <= bounds[t, half]
            for i in range(6):
                w = weights[t, i] * weights[t, i]
                if w > 0:
                    total += w * e[i] * e[i]
                    for a in range(n):
                        scaled = w * J[i, a]
                        if scaled != 0:
                            g[a] += scaled * e[i]
                            for b in range(a + 1):
                                A[a, b] += scaled * J[i, b]
        if reached:
            return total, iteration, CONVERGED
        stall = 0 if total < drop * best else stall + 1
        if total < best:
            best = total
            best_x[:] = x
        if iteration >= limit or stall >= patience:
            x[:] = best_x
            return best, iteration, (ITERATION_LIMIT if iteration >= limit
                                     else ERROR_CHANGE_TOO_SMALL)
        for a in range(n):
            A[a, a] += damping * total + 1e-10
        _step(x, A, g, lower, upper, work, d, held)
        iteration += 1
