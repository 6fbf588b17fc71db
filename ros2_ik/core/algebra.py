"""
The algebra of formulas: vectors are tuples, rotations nine numbers row by row.

A placement X has twelve numbers: a rotation and a position. What is only indexed may be a tuple,
a list, an array or, compiled, a pointer.
"""

import math
from typing import Any, TypeAlias

from ros2_ik.core.kernels.source import part

Vector: TypeAlias = tuple[float, float, float]
Rotation: TypeAlias = Any      # nine numbers, or the first nine of a placement


@part
def vector(numbers: Any, first: int) -> Vector:
    """Return three numbers from `first` on."""
    return numbers[first], numbers[first + 1], numbers[first + 2]


@part
def rotation(numbers: Any, first: int) -> Rotation:
    """Return nine numbers from `first` on."""
    return (numbers[first], numbers[first + 1], numbers[first + 2],
            numbers[first + 3], numbers[first + 4], numbers[first + 5],
            numbers[first + 6], numbers[first + 7], numbers[first + 8])


@part
def column(R: Rotation, i: int) -> Vector:
    """Return axis i of a rotated frame."""
    return R[i], R[i + 3], R[i + 6]


@part
def row(R: Rotation, i: int) -> Vector:
    """Return row i of a matrix."""
    return R[3 * i], R[3 * i + 1], R[3 * i + 2]


@part
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@part
def sub(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@part
def scale(s: float, a: Vector) -> Vector:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@part
def dot(a: Vector, b: Vector) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@part
def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@part
def norm(a: Vector) -> float:
    """Return the length of a vector."""
    return math.sqrt(dot(a, a))


@part
def rotate(R: Rotation, v: Vector) -> Vector:
    """Return R v."""
    return (R[0] * v[0] + R[1] * v[1] + R[2] * v[2], R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
            R[6] * v[0] + R[7] * v[1] + R[8] * v[2])


@part
def rotate_inverse(R: Rotation, v: Vector) -> Vector:
    """Return R^T v."""
    return (R[0] * v[0] + R[3] * v[1] + R[6] * v[2], R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
            R[2] * v[0] + R[5] * v[1] + R[8] * v[2])


@part
def product(A: Rotation, B: Rotation) -> Rotation:
    """Return A B."""
    return (A[0] * B[0] + A[1] * B[3] + A[2] * B[6], A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
            A[0] * B[2] + A[1] * B[5] + A[2] * B[8], A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
            A[3] * B[1] + A[4] * B[4] + A[5] * B[7], A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
            A[6] * B[0] + A[7] * B[3] + A[8] * B[6], A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
            A[6] * B[2] + A[7] * B[5] + A[8] * B[8])


@part
def product_back(A: Rotation, B: Rotation) -> Rotation:
    """Return A^T B: the rotation B seen from A."""
    return (A[0] * B[0] + A[3] * B[3] + A[6] * B[6], A[0] * B[1] + A[3] * B[4] + A[6] * B[7],
            A[0] * B[2] + A[3] * B[5] + A[6] * B[8], A[1] * B[0] + A[4] * B[3] + A[7] * B[6],
            A[1] * B[1] + A[4] * B[4] + A[7] * B[7], A[1] * B[2] + A[4] * B[5] + A[7] * B[8],
            A[2] * B[0] + A[5] * B[3] + A[8] * B[6], A[2] * B[1] + A[5] * B[4] + A[8] * B[7],
            A[2] * B[2] + A[5] * B[5] + A[8] * B[8])


@part
def origin(X: Any) -> Vector:
    """Return the position of a placement."""
    return X[9], X[10], X[11]


@part
def point(X: Any, v: Vector) -> Vector:
    """Return where a point of a placed body is."""
    return add(rotate(X, v), origin(X))


@part
def to_local(X: Any, p: Vector) -> Vector:
    """Return where a point is in the axes of a placed body."""
    return rotate_inverse(X, sub(p, origin(X)))


@part
def log3(R: Rotation) -> Vector:
    """Return the rotation vector of a rotation [rad], at most pi long."""
    x, y, z = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    s, c = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    angle = math.atan2(s, c)
    if s > 1e-4 or c > 0:
        # angle / (2 sin(angle)), by its series near zero
        half = 0.5 * angle / s if s > 1e-7 else 0.5 + s * s / 12.0
        return half * x, half * y, half * z
    # near pi the axis is in the symmetric part
    xx, yy, zz = R[0] - c, R[4] - c, R[8] - c
    xy, xz, yz = 0.5 * (R[1] + R[3]), 0.5 * (R[2] + R[6]), 0.5 * (R[5] + R[7])
    if xx >= yy and xx >= zz:
        axis = (xx, xy, xz)
    elif yy >= zz:
        axis = (xy, yy, yz)
    else:
        axis = (xz, yz, zz)
    length = norm(axis)
    return scale(angle / length if dot(axis, (x, y, z)) >= 0 else -angle / length, axis)


@part
def _log_factors(squared: float) -> tuple[float, float]:
    """Return a = angle / 2 cot(angle / 2), and (1 - a) / angle^2, of a squared angle."""
    if squared < 1e-6:
        return 1.0 - squared / 12.0 - squared * squared / 720.0, 1.0 / 12.0 + squared / 720.0
    half = 0.5 * math.sqrt(squared)
    factor = half * math.cos(half) / math.sin(half)
    return factor, (1.0 - factor) / squared


@part
def jlog3(w: Vector) -> Rotation:
    """Return how a rotation vector changes by a turn about the rotated axes, nine numbers."""
    alpha, beta = _log_factors(dot(w, w))
    x, y, z = w
    return (alpha + beta * x * x, beta * x * y - 0.5 * z, beta * x * z + 0.5 * y,
            beta * x * y + 0.5 * z, alpha + beta * y * y, beta * y * z - 0.5 * x,
            beta * x * z - 0.5 * y, beta * y * z + 0.5 * x, alpha + beta * z * z)


@part
def log6(w: Vector, p: Vector) -> Vector:
    """Return the translation of the screw motion to a placement at p with rotation vector w."""
    alpha, beta = _log_factors(dot(w, w))
    return add(sub(scale(alpha, p), scale(0.5, cross(w, p))), scale(beta * dot(w, p), w))


@part
def wrench(W: Any, i: int, force: Vector, moment: Vector) -> None:
    """Make a force, and its moment about the root frame's origin, row i of the wrenches."""
    W[6 * i], W[6 * i + 1], W[6 * i + 2] = force
    W[6 * i + 3], W[6 * i + 4], W[6 * i + 5] = moment


@part
def force(W: Any, i: int, at: Vector, along: Vector) -> None:
    """Fill row i of the wrenches with that of a force at a point, both in the root frame."""
    wrench(W, i, along, cross(at, along))


@part
def moment(W: Any, i: int, about: Vector) -> None:
    """Make row i of the wrenches a pure moment, in the root frame's axes."""
    wrench(W, i, (0.0, 0.0, 0.0), about)
