"""
Placements, their logarithms and small linear systems, compiled. Placements are (4, 4).

Compiled when imported, for one signature each; needs numba.
"""

import math

import numba


@numba.njit('void(f8[:,::1], f8[:,::1], f8[:,::1])', cache=True, nogil=True)
def multiply(a, b, out):
    """Product of two placements (4, 4); out may be neither."""
    for i in range(3):
        for j in range(4):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]
        out[i, 3] += a[i, 3]


@numba.njit('void(f8[:,::1], f8[::1])', cache=True, nogil=True)
def log3(R, w):
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
def log6(T, e):
    """Screw motion e (6,) = [linear; angular] of a placement, as pinocchio.log6."""
    w = e[3:]
    log3(T, w)
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
def jlog3(w, out):
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


@numba.njit('void(f8[:,::1], f8[:,::1], f8[:,::1])', cache=True, nogil=True)
def relative(a, b, out):
    """Placement of b seen from a."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[0, i] * b[0, j] + a[1, i] * b[1, j] + a[2, i] * b[2, j]
        out[i, 3] = (a[0, i] * (b[0, 3] - a[0, 3]) + a[1, i] * (b[1, 3] - a[1, 3])
                     + a[2, i] * (b[2, 3] - a[2, 3]))


@numba.njit('b1(f8[:,::1], f8[::1], i8)', cache=True, nogil=True)
def solve(A, g, n):
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
