"""How often a surface winds round a point: once where the point is inside a closed one."""

import math

import numpy as np

from ros2_ik.core.kernels.source import loop


@loop('f8(f8[:,:,::1], f8, f8, f8)')
def winding_number(corners, x, y, z):
    """Sum the solid angles of triangles (m, 3, 3) as seen from a point, in full turns."""
    ax, ay, az = corners[:, 0, 0] - x, corners[:, 0, 1] - y, corners[:, 0, 2] - z
    bx, by, bz = corners[:, 1, 0] - x, corners[:, 1, 1] - y, corners[:, 1, 2] - z
    cx, cy, cz = corners[:, 2, 0] - x, corners[:, 2, 1] - y, corners[:, 2, 2] - z
    la = np.sqrt(ax * ax + ay * ay + az * az)
    lb = np.sqrt(bx * bx + by * by + bz * bz)
    lc = np.sqrt(cx * cx + cy * cy + cz * cz)
    volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    angles = np.arctan2(volume, la * lb * lc + (ax * bx + ay * by + az * bz) * lc
                        + (bx * cx + by * cy + bz * cz) * la
                        + (cx * ax + cy * ay + cz * az) * lb)
    return angles.sum() / (2 * math.pi)
