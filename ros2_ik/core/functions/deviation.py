"""How far a direction is turned away from an axis."""

import math

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array

ALIGNED = 1e-15   # sine of an angle below which the plane it lies in is rounding
NEAR = 1e-3       # sine below which the derivative across the plane of a large angle is bounded


def across(axis: Array) -> Array:
    """Give two unit vectors at right angles to a unit vector and to each other, (2, 3)."""
    least = np.eye(3)[int(np.abs(axis).argmin())]
    first = least - (least @ axis) * axis
    first /= math.sqrt(first @ first)
    return np.array([first, pin.skew(axis) @ first])


class Deviation:
    """
    The angle from a fixed unit vector `axis` to a unit vector u, and the vector behind it.

    Derivatives are with respect to u, all in the axes of `axis`, at right angles to u. Where u is
    along the axis or against it, the plane of the angle is one fixed plane.
    """

    def __init__(self, axis: Array) -> None:
        self.axis, self.across = axis, across(axis)

    def angle(self, u: Array) -> tuple[float, Array]:
        """Give the angle phi in [0, pi] and its derivative (3,), a unit vector."""
        phi, _, outward, cosine, sine = self._split(u)
        return phi, cosine * outward @ self.across - sine * self.axis

    def vector(self, u: Array) -> tuple[Array, Array]:
        """
        Give phi in the direction in which u deviates, (2,), and its derivative (2, 3).

        It is zero only along the axis, and smooth there; against the axis it is pi long.
        """
        phi, stretch, outward, cosine, sine = self._split(u)
        x, y = outward
        along = cosine * outward @ self.across - sine * self.axis
        sideways = stretch * (np.array([-y, x]) @ self.across)
        return phi * outward, np.array([[x, -y], [y, x]]) @ np.array([along, sideways])

    def _split(self, u: Array) -> tuple[float, float, Array, float, float]:
        """Angle, angle / sine, direction (2,) across the axis, cosine and sine."""
        across = self.across @ u
        sine, cosine = math.sqrt(across @ across), float(self.axis @ u)
        phi = math.atan2(sine, cosine)
        outward = across / sine if sine > ALIGNED else np.array([1.0, 0.0])
        if cosine > 0:
            stretch = phi / sine if sine > ALIGNED else 1.0
        else:
            stretch = phi / max(sine, NEAR)
        return phi, stretch, outward, cosine, sine
