"""
Levenberg-Marquardt on poses of frames, compiled: the same steps as solvers/lm.py.

Compiled when imported, for one signature; needs numba.
"""

import math

import numba
import numpy as np

from ros2_ik.core.kernels.placements import jlog3, log3, log6, multiply, relative, solve

CONVERGED, ITERATION_LIMIT, ERROR_CHANGE_TOO_SMALL = 1, 2, 5    # of ExitFlag


@numba.njit('void(f8[::1], f8[:,:,::1], f8[::1], i8[::1], f8[::1], f8[::1], f8[:,::1],'
            'f8[:,::1], f8[:,::1], f8[:,::1])', cache=True, nogil=True)
def _forward(x, before, rotary, column, multiplier, offset, after, axes, origins, tip):
    """Placement of the tip, and axis and origin of each joint, in the root frame."""
    at = np.eye(4)
    moved = np.eye(4)
    for k in range(len(column)):
        multiply(at, before[k], moved)
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
    multiply(at, after, tip)


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], f8[::1], i8[::1], f8[:,::1], f8[:,::1],'
            'f8[:,::1], f8[:,::1], f8[::1])', cache=True, nogil=True)
def _whole_rows(tip, target, rotary, multiplier, column, axes, origins, J, error, e):
    """Rows of a whole pose: the screw motion from tip to target, in the tip's axes."""
    relative(tip, target, error)
    log6(error, e)
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
    relative(target, tip, error)
    log3(error, e[3:])
    turn = np.empty((3, 3))
    jlog3(e[3:], turn)
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
        if not solve(work, d, n):
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
def _descend(x, before, rotary, column, multiplier, offset, first, after, targets, whole, weights,
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
            A[a, a] += damping * min(total, 100.0) + 1e-10
        _step(x, A, g, lower, upper, work, d, held)
        iteration += 1


@numba.njit('Tuple((f8, i8, i8, i8, i8))(f8[:,::1], f8[:,:,::1], f8[::1], i8[::1], f8[::1],'
            'f8[::1], i8[::1], f8[:,:,::1], f8[:,:,::1], b1[::1], f8[:,::1], f8[:,::1], f8[::1],'
            'f8[::1], f8, i8, f8, i8, f8)', cache=True, nogil=True)
def descend(starts, before, rotary, column, multiplier, offset, first, after, targets, whole,
            weights, bounds, lower, upper, damping, limit, most, patience, drop):
    """
    Descend from one of `starts` (k, n) after another until one arrives, or `most` iterations.

    See _descend; the rows that were used are left at their best values. Gives the squared error
    of the best row, its exit flag and its number, the number of iterations and of rows used.
    """
    best, best_flag, best_row, iterations = np.inf, 0, 0, 0
    for row in range(len(starts)):
        total, done, flag = _descend(
            starts[row], before, rotary, column, multiplier, offset, first, after, targets, whole,
            weights, bounds, lower, upper, damping, min(limit, most - iterations), patience, drop)
        iterations += done
        if row == 0 or flag == CONVERGED or total < best:
            best, best_flag, best_row = total, flag, row
        if flag == CONVERGED or iterations >= most:
            return best, best_flag, best_row, iterations, row + 1
    return best, best_flag, best_row, iterations, len(starts)
