"""Deviation of a direction from an axis, and its derivatives."""

import math
from typing import Any

import numpy as np

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.kernels.source import part

ALIGNED = 1e-15   # sine of an angle below which the plane it lies in is rounding
NEAR = 1e-3       # sine below which the derivative across the plane of a large angle is bounded


def across(axis: Any) -> Array:
    """Return two unit vectors at right angles to a unit vector and to each other, (2, 3)."""
    n = v.vector([float(value) for value in axis], 0)
    lengths = [abs(value) for value in n]
    least = lengths.index(min(lengths))
    first = v.scale(-n[least], n)
    first = v.add(first, (float(least == 0), float(least == 1), float(least == 2)))
    first = v.scale(1.0 / v.norm(first), first)
    return np.array([first, v.cross(n, first)])


@part
def split(u: v.Vector, axis: v.Vector, one: v.Vector, two: v.Vector) -> Any:
    """
    Split the angle phi from an axis to a unit vector u; `one` and `two` are `across` the axis.

    Returns phi in [0, pi], phi / sin(phi), the direction x, y in which u deviates, along `one`
    and `two`, and the derivative of phi by u, a unit vector at right angles to u. Where u is
    along the axis or against it, the plane of the angle is one fixed plane.
    """
    x, y, cosine = v.dot(one, u), v.dot(two, u), v.dot(axis, u)
    sine = math.sqrt(x * x + y * y)
    phi = math.atan2(sine, cosine)
    if sine > ALIGNED:
        x, y = x / sine, y / sine
    else:
        x, y = 1.0, 0.0
    if cosine <= 0:
        stretch = phi / max(sine, NEAR)
    else:
        stretch = phi / sine if sine > ALIGNED else 1.0
    outward = v.add(v.scale(x, one), v.scale(y, two))
    return phi, stretch, x, y, v.sub(v.scale(cosine, outward), v.scale(sine, axis))


@part
def as_vector(u: v.Vector, axis: v.Vector, one: v.Vector, two: v.Vector) -> Any:
    """
    Return phi in the direction in which u deviates, two numbers, each with its derivative by u.

    They are zero only along the axis, and smooth there; against the axis phi is pi.
    """
    phi, stretch, x, y, along = split(u, axis, one, two)
    sideways = v.scale(stretch, v.sub(v.scale(x, two), v.scale(y, one)))
    return (phi * x, v.sub(v.scale(x, along), v.scale(y, sideways)),
            phi * y, v.add(v.scale(y, along), v.scale(x, sideways)))
