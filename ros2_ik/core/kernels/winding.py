"""How often a surface winds round a point: once where the point is inside a closed one."""

import math

import numba


@numba.njit('f8(f8[:,:,::1], f8, f8, f8)', cache=True, nogil=True)
def winding_number(corners, x, y, z):    # type: ignore[no-untyped-def]
    """Sum the solid angles of triangles (m, 3, 3) as seen from a point, in full turns."""
    total = 0.0
    for i in range(len(corners)):
        ax, ay, az = corners[i, 0, 0] - x, corners[i, 0, 1] - y, corners[i, 0, 2] - z
        bx, by, bz = corners[i, 1, 0] - x, corners[i, 1, 1] - y, corners[i, 1, 2] - z
        cx, cy, cz = corners[i, 2, 0] - x, corners[i, 2, 1] - y, corners[i, 2, 2] - z
        la = math.sqrt(ax * ax + ay * ay + az * az)
        lb = math.sqrt(bx * bx + by * by + bz * bz)
        lc = math.sqrt(cx * cx + cy * cy + cz * cz)
        volume = (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))
        total += math.atan2(volume, la * lb * lc + (ax * bx + ay * by + az * bz) * lc
                            + (bx * cx + by * cy + bz * cz) * la
                            + (cx * ax + cy * ay + cz * az) * lb)
    return total / (2 * math.pi)
