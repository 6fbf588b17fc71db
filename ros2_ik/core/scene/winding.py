"""How often a surface winds round a point."""

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.kernels import kernel


def winds_round(corners: Array, point: Array) -> bool:
    """
    Whether triangles (m, 3, 3) wind round a point (3,), whichever way.

    In doubt, as in what two hollows share or a surface that crosses itself, a point is inside.
    """
    return abs(turns_round(corners, point)) > 0.5


def turns_round(corners: Array, point: Array) -> float:
    """Return the winding number of triangles (m, 3, 3): 1 in a closed surface turned outward."""
    return float((kernel('winding') or winding_number)(corners, *point.tolist()))


def winding_number(corners: Array, x: float, y: float, z: float) -> float:
    """Sum the solid angles of triangles (m, 3, 3) as seen from a point, in full turns."""
    a, b, c = np.moveaxis(corners - np.array((x, y, z)), 1, 0)
    la, lb, lc = (np.sqrt(np.einsum('ij,ij->i', v, v)) for v in (a, b, c))
    dots = [np.einsum('ij,ij->i', v, w) for v, w in ((a, b), (b, c), (c, a))]
    angles = np.arctan2(np.einsum('ij,ij->i', a, np.cross(b, c)),
                        la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return float(angles.sum() / (2 * np.pi))
