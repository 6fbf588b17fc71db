"""How often a surface winds round a point."""

from ros2_ik.core.arrays import Array
from ros2_ik.core.kernels.winding import winding_number


def winds_round(corners: Array, point: Array) -> bool:
    """
    Return whether triangles (m, 3, 3) wind round a point (3,), whichever way.

    In doubt, as in what two hollows share or a surface that crosses itself, a point is inside.
    """
    return abs(turns_round(corners, point)) > 0.5


def turns_round(corners: Array, point: Array) -> float:
    """Return the winding number of triangles (m, 3, 3): 1 in a closed surface turned outward."""
    return float(winding_number.run(corners, *point.tolist()))
