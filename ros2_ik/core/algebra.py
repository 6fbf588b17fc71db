"""
Vector algebra for compiled formulas: vectors are tuples, matrices nine numbers row by row.

A placement X, the pose of a frame in a parent frame, is twelve numbers: rotation, position.
"""

import math
from typing import Protocol, TypeAlias

from ros2_ik.core.kernels.source import part

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]


class Floats(Protocol):
    """Numbers read by index: a tuple, a list, an array or, in compiled code, a pointer."""

    def __getitem__(self, index: int, /) -> float: ...


class Buffer(Floats, Protocol):
    """Numbers read and written by index: a list, an array or, in compiled code, a pointer."""

    def __setitem__(self, index: int, value: float, /) -> None: ...


@part
def vector(numbers: Floats, first: int) -> Vector:
    """Return the vector at numbers[first:first + 3]."""
    return numbers[first], numbers[first + 1], numbers[first + 2]


@part
def rotation(numbers: Floats, first: int) -> Matrix:
    """Return the matrix at numbers[first:first + 9]."""
    return (numbers[first], numbers[first + 1], numbers[first + 2],
            numbers[first + 3], numbers[first + 4], numbers[first + 5],
            numbers[first + 6], numbers[first + 7], numbers[first + 8])


@part
def column(R: Floats, i: int) -> Vector:
    """Return column i of a matrix; column i of a rotation is axis i of the rotated frame."""
    return R[i], R[i + 3], R[i + 6]


@part
def row(R: Floats, i: int) -> Vector:
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
def rotate(R: Floats, v: Vector) -> Vector:
    """Return R v."""
    return (R[0] * v[0] + R[1] * v[1] + R[2] * v[2], R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
            R[6] * v[0] + R[7] * v[1] + R[8] * v[2])


@part
def rotate_inverse(R: Floats, v: Vector) -> Vector:
    """Return R^T v."""
    return (R[0] * v[0] + R[3] * v[1] + R[6] * v[2], R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
            R[2] * v[0] + R[5] * v[1] + R[8] * v[2])


@part
def product(A: Floats, B: Floats) -> Matrix:
    """Return A B."""
    return (A[0] * B[0] + A[1] * B[3] + A[2] * B[6], A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
            A[0] * B[2] + A[1] * B[5] + A[2] * B[8], A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
            A[3] * B[1] + A[4] * B[4] + A[5] * B[7], A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
            A[6] * B[0] + A[7] * B[3] + A[8] * B[6], A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
            A[6] * B[2] + A[7] * B[5] + A[8] * B[8])


@part
def relative_rotation(A: Floats, B: Floats) -> Matrix:
    """Return A^T B: rotation B relative to rotation A."""
    return (A[0] * B[0] + A[3] * B[3] + A[6] * B[6], A[0] * B[1] + A[3] * B[4] + A[6] * B[7],
            A[0] * B[2] + A[3] * B[5] + A[6] * B[8], A[1] * B[0] + A[4] * B[3] + A[7] * B[6],
            A[1] * B[1] + A[4] * B[4] + A[7] * B[7], A[1] * B[2] + A[4] * B[5] + A[7] * B[8],
            A[2] * B[0] + A[5] * B[3] + A[8] * B[6], A[2] * B[1] + A[5] * B[4] + A[8] * B[7],
            A[2] * B[2] + A[5] * B[5] + A[8] * B[8])


@part
def origin(X: Floats) -> Vector:
    """Return the position of a placement."""
    return X[9], X[10], X[11]


@part
def point(X: Floats, v: Vector) -> Vector:
    """Return X v: map v from coordinates in the placed frame to those in the parent frame."""
    return add(rotate(X, v), origin(X))


@part
def to_local(X: Floats, p: Vector) -> Vector:
    """Return X^-1 p: map p from coordinates in the parent frame to those in the placed frame."""
    return rotate_inverse(X, sub(p, origin(X)))


@part
def log3(R: Floats) -> Vector:
    """Return the rotation vector of a rotation [rad]; its length is at most pi."""
    # sine and cosine of the angle, from the skew part and the trace
    x, y, z = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    s, c = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    angle = math.atan2(s, c)
    if s > 1e-4 or c > 0:
        # angle / (2 sin(angle)), near zero by its series
        half = 0.5 * angle / s if s > 1e-7 else 0.5 + s * s / 12.0
        return half * x, half * y, half * z
    # near pi: the axis is parallel to the largest column of R + R^T - 2 cos(angle) I
    xx, yy, zz = R[0] - c, R[4] - c, R[8] - c
    xy, xz, yz = 0.5 * (R[1] + R[3]), 0.5 * (R[2] + R[6]), 0.5 * (R[5] + R[7])
    if xx >= yy and xx >= zz:
        axis = (xx, xy, xz)
    elif yy >= zz:
        axis = (xy, yy, yz)
    else:
        axis = (xz, yz, zz)
    length = norm(axis)
    # the skew part determines the sign of the axis
    return scale(angle / length if dot(axis, (x, y, z)) >= 0 else -angle / length, axis)


@part
def _log_factors(squared: float) -> tuple[float, float]:
    """Return a = (angle / 2) cot(angle / 2) and (1 - a) / angle^2; `squared`: angle^2 [rad^2]."""
    # the series near zero, where both quotients are 0 / 0
    if squared < 1e-6:
        return 1.0 - squared / 12.0 - squared * squared / 720.0, 1.0 / 12.0 + squared / 720.0
    half = 0.5 * math.sqrt(squared)
    factor = half * math.cos(half) / math.sin(half)
    return factor, (1.0 - factor) / squared


@part
def jlog3(w: Vector) -> Matrix:
    """Return d log3(R exp(u)) / du at u = 0, for w = log3(R); like pinocchio.Jlog3."""
    alpha, beta = _log_factors(dot(w, w))
    x, y, z = w
    return (alpha + beta * x * x, beta * x * y - 0.5 * z, beta * x * z + 0.5 * y,
            beta * x * y + 0.5 * z, alpha + beta * y * y, beta * y * z - 0.5 * x,
            beta * x * z - 0.5 * y, beta * y * z + 0.5 * x, alpha + beta * z * z)


@part
def log6(w: Vector, p: Vector) -> Vector:
    """Return the linear part of a placement's log6, from its rotation vector w and position p."""
    alpha, beta = _log_factors(dot(w, w))
    return add(sub(scale(alpha, p), scale(0.5, cross(w, p))), scale(beta * dot(w, p), w))


@part
def wrench(W: Buffer, i: int, force: Vector, moment: Vector) -> None:
    """Set row i of W (m, 6) to a force and a moment about the root frame's origin."""
    W[6 * i], W[6 * i + 1], W[6 * i + 2] = force
    W[6 * i + 3], W[6 * i + 4], W[6 * i + 5] = moment


@part
def force(W: Buffer, i: int, at: Vector, along: Vector) -> None:
    """Set row i of W (m, 6) to the wrench of force `along` at point `at`, in the root frame."""
    wrench(W, i, along, cross(at, along))


@part
def moment(W: Buffer, i: int, about: Vector) -> None:
    """Set row i of W (m, 6) to the pure moment `about`, in the root frame's axes."""
    wrench(W, i, (0.0, 0.0, 0.0), about)
