"""Angle of a direction from an axis as a number or a vector, with derivatives."""

import math

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.fields import Numbers
from ros2_ik.core.kernels.source import part

ALIGNED = 1e-15   # sine of an angle below which the plane of the angle is only rounding
NEAR = 1e-3       # sine of an angle near pi below which phi / sin(phi) is limited


def orthonormal_complement(axis: Numbers) -> Array:
    """Return two unit vectors perpendicular to a unit vector (3,) and to each other, (2, 3)."""
    # project the coordinate axis that is farthest from n
    n = v.vector([float(value) for value in axis], 0)
    lengths = [abs(value) for value in n]
    least = lengths.index(min(lengths))
    first = v.scale(-n[least], n)
    first = v.add(first, (float(least == 0), float(least == 1), float(least == 2)))
    first = v.scale(1.0 / v.norm(first), first)
    return np.array([first, v.cross(n, first)])


@part
def deviation_angle(u: v.Vector, axis: v.Vector, one: v.Vector, two: v.Vector
                    ) -> tuple[float, float, float, float, v.Vector]:
    """
    Return the angle phi between an axis and a unit vector u, and its derivatives.

    `one` and `two` are the `orthonormal_complement` of the axis. Returned are phi in [0, pi],
    phi / sin(phi), the direction (x, y) of u's component perpendicular to the axis along `one` and
    `two`, and the gradient of phi w.r.t. u, a unit vector perpendicular to u. If u is parallel
    or antiparallel to the axis, the direction is `one`.
    """
    # components of u along one, two and the axis
    x, y, cosine = v.dot(one, u), v.dot(two, u), v.dot(axis, u)
    sine = math.sqrt(x * x + y * y)
    phi = math.atan2(sine, cosine)
    if sine > ALIGNED:
        x, y = x / sine, y / sine
    else:
        x, y = 1.0, 0.0
    # phi / sin(phi): limited near pi, 1 at zero
    if cosine <= 0:
        stretch = phi / max(sine, NEAR)
    else:
        stretch = phi / sine if sine > ALIGNED else 1.0
    # gradient: the direction perpendicular to u in the plane of the angle, away from the axis
    outward = v.add(v.scale(x, one), v.scale(y, two))
    return phi, stretch, x, y, v.sub(v.scale(cosine, outward), v.scale(sine, axis))


@part
def deviation_vector(u: v.Vector, axis: v.Vector, one: v.Vector, two: v.Vector
                     ) -> tuple[float, v.Vector, float, v.Vector]:
    """
    Return phi x, its gradient, phi y, its gradient, both w.r.t. u; see `deviation_angle`.

    The vector phi (x, y) is zero only along the axis, where it is smooth; opposite to the axis its
    length is pi.
    """
    phi, stretch, x, y, along = deviation_angle(u, axis, one, two)
    # derivative of the direction (x, y), scaled by phi
    sideways = v.scale(stretch, v.sub(v.scale(x, two), v.scale(y, one)))
    return (phi * x, v.sub(v.scale(x, along), v.scale(y, sideways)),
            phi * y, v.add(v.scale(y, along), v.scale(x, sideways)))
