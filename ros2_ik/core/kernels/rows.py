"""
Values and Jacobians of functions of joint values, compiled: the formulas of core/functions.

Compiled when imported, for one signature each; needs numba. Each entry of the table is a code,
two frames (the function's and the one it is relative to), its first parameter and its rows.
"""

import math

import numba
import numpy as np

from ros2_ik.core.kernels.placements import jlog3, log3, multiply

# codes, with their parameters
HEIGHTS = 0             # count, offset, then for each point: point (3), force (3): 1 row
DISTANCE = 1            # point (3), other point (3): 1 row
LINE_DISTANCE = 2       # point (3), line point (3), two axes across (6): 1 row
ROTATION = 3            # reference (9), offset (9): 3 rows
ROTATION_ANGLE = 4      # reference (9), offset (9): 1 row
DIRECTION_ANGLE = 5     # vector (3), axis (3), two axes across (6): 1 row
DIRECTION_VECTOR = 6    # the same: 2 rows
SIGHT_ANGLE = 7         # axis (3), two axes across (6), origin (3), target (3): 1 row
SIGHT_VECTOR = 8        # the same: 2 rows
LINEAR = 9              # constant, then a coefficient for each free value: 1 row

ALIGNED, NEAR = 1e-15, 1e-3          # as in functions/deviation.py
TOUCHING, CLOSE = 1e-9, 1e-3         # as in functions/sight.py
COINCIDENT = 1e-12                   # as in functions/point_to_point_distance.py

TREE = 'i8[::1], f8[:,:,::1], f8[::1], i8[::1], f8[::1], f8[::1]'
FRAMES = 'i8[::1], f8[:,:,::1], f8[:,::1]'
TABLE = 'i8[:,::1], f8[::1]'


@numba.njit('void(f8[:,::1], f8[::1], i8, f8[::1])', cache=True, nogil=True)
def _point(T, params, first, out):
    """Bring a point of a frame into the root frame."""
    for i in range(3):
        out[i] = (T[i, 0] * params[first] + T[i, 1] * params[first + 1]
                  + T[i, 2] * params[first + 2] + T[i, 3])


@numba.njit('void(f8[:,::1], f8[::1], i8, f8[::1])', cache=True, nogil=True)
def _vector(T, params, first, out):
    """Turn a vector of a frame into the root frame's axes."""
    for i in range(3):
        out[i] = (T[i, 0] * params[first] + T[i, 1] * params[first + 1]
                  + T[i, 2] * params[first + 2])


@numba.njit('void(f8[::1], f8[::1], f8, f8[::1])', cache=True, nogil=True)
def _add_wrench(point, force, scale, W):
    """Add a force at a point to a wrench."""
    x, y, z = scale * force[0], scale * force[1], scale * force[2]
    W[0] += x
    W[1] += y
    W[2] += z
    W[3] += point[1] * z - point[2] * y
    W[4] += point[2] * x - point[0] * z
    W[5] += point[0] * y - point[1] * x


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], i8, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def _heights(B, A, params, first, f, W):
    """Sum of forces (in A) times points of B (seen from A), less an offset."""
    point, force = np.empty(3), np.empty(3)
    total = -params[first + 1]
    for k in range(int(params[first])):
        start = first + 2 + 6 * k
        _point(B, params, start, point)
        _vector(A, params, start + 3, force)
        for i in range(3):
            total += force[i] * (point[i] - A[i, 3])
        _add_wrench(point, force, 1.0, W[0])
    f[0] = total


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], i8, b1, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def _distance(B, A, params, first, line, f, W):
    """Distance of a point of B from a point of A, or from a line of A."""
    point, other, along = np.empty(3), np.empty(3), np.zeros(3)
    _point(B, params, first, point)
    _point(A, params, first + 3, other)
    if line:
        axis = np.empty(3)
        for k in range(2):
            _vector(A, params, first + 6 + 3 * k, axis)
            across = 0.0
            for i in range(3):
                across += axis[i] * (point[i] - other[i])
            for i in range(3):
                along[i] += across * axis[i]
    else:
        for i in range(3):
            along[i] = point[i] - other[i]
    distance = math.sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2])
    f[0] = distance
    if distance < COINCIDENT:
        if line:
            _vector(A, params, first + 6, along)
        else:
            for i in range(3):
                along[i] = A[i, 0]
        distance = 1.0
    _add_wrench(point, along, 1.0 / distance, W[0])


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], i8, b1, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def _rotation(B, A, params, first, only_angle, f, W):
    """Rotation vector from a reference in A to B with an offset, or its length."""
    reference, turned, error = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            reference[i, j] = turned[i, j] = 0.0
            for k in range(3):
                reference[i, j] += A[i, k] * params[first + 3 * k + j]
                turned[i, j] += B[i, k] * params[first + 9 + 3 * k + j]
    for i in range(3):
        for j in range(3):
            error[i, j] = (reference[0, i] * turned[0, j] + reference[1, i] * turned[1, j]
                           + reference[2, i] * turned[2, j])
    w = np.empty(3)
    log3(error, w)
    if only_angle:
        angle = math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        f[0] = min(angle, math.pi)
        if angle > 1e-15:
            for i in range(3):
                w[i] /= angle
        else:
            w[0], w[1], w[2] = 1.0, 0.0, 0.0
        for i in range(3):
            W[0, 3 + i] = (reference[i, 0] * w[0] + reference[i, 1] * w[1]
                           + reference[i, 2] * w[2])
        return
    turn = np.empty((3, 3))
    jlog3(w, turn)
    for i in range(3):
        f[i] = w[i]
        for j in range(3):
            W[i, 3 + j] = (turn[i, 0] * turned[j, 0] + turn[i, 1] * turned[j, 1]
                           + turn[i, 2] * turned[j, 2])


@numba.njit('i8(f8[::1], f8[::1], i8, b1, f8[::1], f8[:,::1])', cache=True, nogil=True)
def _deviate(u, params, first, as_vector, f, G):
    """
    Angle from an axis to u, or the vector behind it, and its derivatives by u.

    The axis and two axes across are at params[first]. Gives the number of rows.
    """
    x = y = cosine = 0.0
    for i in range(3):
        cosine += params[first + i] * u[i]
        x += params[first + 3 + i] * u[i]
        y += params[first + 6 + i] * u[i]
    sine = math.sqrt(x * x + y * y)
    phi = math.atan2(sine, cosine)
    if sine > ALIGNED:
        x, y = x / sine, y / sine
    else:
        x, y = 1.0, 0.0
    if cosine > 0:
        stretch = phi / sine if sine > ALIGNED else 1.0
    else:
        stretch = phi / max(sine, NEAR)
    for i in range(3):
        axis, one, two = params[first + i], params[first + 3 + i], params[first + 6 + i]
        along = cosine * (x * one + y * two) - sine * axis
        if as_vector:
            sideways = stretch * (x * two - y * one)
            G[0, i] = x * along - y * sideways
            G[1, i] = y * along + x * sideways
        else:
            G[0, i] = along
    if as_vector:
        f[0], f[1] = phi * x, phi * y
        return 2
    f[0] = phi
    return 1


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], i8, b1, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def _direction(B, A, params, first, as_vector, f, W):
    """How a vector of B is turned away from an axis of A."""
    vector, u, G, g = np.empty(3), np.empty(3), np.empty((2, 3)), np.empty(3)
    _vector(B, params, first, vector)
    for i in range(3):
        u[i] = A[0, i] * vector[0] + A[1, i] * vector[1] + A[2, i] * vector[2]
    count = _deviate(u, params, first + 3, as_vector, f, G)
    for row in range(count):
        for i in range(3):
            g[i] = A[i, 0] * G[row, 0] + A[i, 1] * G[row, 1] + A[i, 2] * G[row, 2]
        W[row, 3] = vector[1] * g[2] - vector[2] * g[1]
        W[row, 4] = vector[2] * g[0] - vector[0] * g[2]
        W[row, 5] = vector[0] * g[1] - vector[1] * g[0]


@numba.njit('void(f8[:,::1], f8[:,::1], f8[::1], i8, b1, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def _sight(B, A, params, first, as_vector, f, W):
    """How the ray from a point of B to a target of A is turned away from an axis of B."""
    target, ray, G, g = np.empty(3), np.empty(3), np.empty((2, 3)), np.empty(3)
    _point(A, params, first + 12, target)
    for i in range(3):
        ray[i] = (B[0, i] * (target[0] - B[0, 3]) + B[1, i] * (target[1] - B[1, 3])
                  + B[2, i] * (target[2] - B[2, 3])) - params[first + 9 + i]
    largest = max(abs(ray[0]), abs(ray[1]), abs(ray[2]), 1e-300)    # its square may overflow
    distance = largest * math.sqrt((ray[0] / largest)**2 + (ray[1] / largest)**2
                                   + (ray[2] / largest)**2)
    if distance > TOUCHING:
        for i in range(3):
            ray[i] /= distance
        count = _deviate(ray, params, first, as_vector, f, G)
    else:
        for i in range(3):
            ray[i] = -params[first + i]
        count = _deviate(ray, params, first, as_vector, f, G)
        for row in range(count):
            for i in range(3):
                G[row, i] = f[row] / math.pi * ray[i]
    for row in range(count):
        for i in range(3):
            g[i] = B[i, 0] * G[row, 0] + B[i, 1] * G[row, 1] + B[i, 2] * G[row, 2]
        _add_wrench(target, g, -1.0 / max(distance, CLOSE), W[row])


@numba.njit(f'void(f8[::1], {TREE}, f8[:,:,::1], f8[:,::1])', cache=True, nogil=True)
def _forward(x, parent, before, rotary, column, multiplier, offset, placed, axes):
    """Placement of each joint's body, and the spatial velocity (6,) by which each moves."""
    for k in range(len(parent)):
        if parent[k] < 0:
            placed[k] = before[k]
        else:
            multiply(placed[parent[k]], before[k], placed[k])
        at, value, m = placed[k], multiplier[k] * x[column[k]] + offset[k], multiplier[k]
        zx, zy, zz = m * at[0, 2], m * at[1, 2], m * at[2, 2]
        if rotary[k] > 0:
            c, s = math.cos(value), math.sin(value)
            for i in range(3):
                first, second = at[i, 0], at[i, 1]
                at[i, 0] = c * first + s * second
                at[i, 1] = c * second - s * first
            px, py, pz = at[0, 3], at[1, 3], at[2, 3]
            axes[k, 0] = py * zz - pz * zy
            axes[k, 1] = pz * zx - px * zz
            axes[k, 2] = px * zy - py * zx
            axes[k, 3], axes[k, 4], axes[k, 5] = zx, zy, zz
        else:
            for i in range(3):
                at[i, 3] += value * at[i, 2]
            axes[k, 0], axes[k, 1], axes[k, 2] = zx, zy, zz
            axes[k, 3] = axes[k, 4] = axes[k, 5] = 0.0


@numba.njit('void(f8[:,::1], f8[:,::1], i8, f8[::1], i8, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def _measure(B, A, code, params, first, f, W):
    """Value and wrenches of one entry."""
    if code == HEIGHTS:
        _heights(B, A, params, first, f, W)
    elif code == DISTANCE or code == LINE_DISTANCE:
        _distance(B, A, params, first, code == LINE_DISTANCE, f, W)
    elif code == ROTATION or code == ROTATION_ANGLE:
        _rotation(B, A, params, first, code == ROTATION_ANGLE, f, W)
    elif code == DIRECTION_ANGLE or code == DIRECTION_VECTOR:
        _direction(B, A, params, first, code == DIRECTION_VECTOR, f, W)
    elif code == SIGHT_ANGLE or code == SIGHT_VECTOR:
        _sight(B, A, params, first, code == SIGHT_VECTOR, f, W)


@numba.njit(f'void(f8[::1], {TREE}, {FRAMES}, {TABLE}, f8[::1], f8[:,::1])', cache=True,
            nogil=True)
def evaluate(x, parent, before, rotary, column, multiplier, offset, node, place, carries, table,
             params, f, J):
    """
    Fill the values f (m,) and Jacobian J (m, n) of a table's entries at x (n,).

    The bodies of `before` hang on each other by `parent` (-1: the root); see Chain for their
    joints. Frame i is fixed to body node[i] at place[i]; carries[i, k] is 1 where joint k moves
    it. Rows of `table` are code, frame, relative frame, first parameter, first row, rows.
    """
    n, count = len(x), len(parent)
    placed, axes = np.empty((count, 4, 4)), np.empty((count, 6))
    for k in range(count):
        for i in range(4):
            placed[k, 3, i] = 1.0 if i == 3 else 0.0
    _forward(x, parent, before, rotary, column, multiplier, offset, placed, axes)
    frames = np.empty((len(node), 4, 4))
    for i in range(len(node)):
        if node[i] < 0:
            frames[i] = place[i]
        else:
            multiply(placed[node[i]], place[i], frames[i])
    W = np.empty((3, 6))
    J[:] = 0.0
    for entry in range(len(table)):
        code, b, a = table[entry, 0], table[entry, 1], table[entry, 2]
        first, row, rows = table[entry, 3], table[entry, 4], table[entry, 5]
        if code == LINEAR:
            f[row] = params[first]
            for j in range(n):
                J[row, j] = params[first + 1 + j]
                f[row] += J[row, j] * x[j]
            continue
        W[:] = 0.0
        _measure(frames[b], frames[a], code, params, first, f[row:], W)
        for k in range(count):
            sign = carries[b, k] - carries[a, k]
            if sign != 0:
                for i in range(rows):
                    rate = 0.0
                    for c in range(6):
                        rate += W[i, c] * axes[k, c]
                    J[row + i, column[k]] += sign * rate
