"""Rays from a point through the triangles of a mesh."""

import numpy as np

from ros2_ik.core.kernels.source import loop


@loop('i8(f8[:,:,::1], f8[::1])')
def count_leaving(corners, point):
    """
    Count the rays along the six half-axes that leave triangles (m, 3, 3) from a point (3,).

    A ray leaves if it passes outward and inward through them unequally often.
    """
    passed = np.zeros(6, np.int64)
    for i in range(len(corners)):
        a, b, c = corners[i, 0], corners[i, 1], corners[i, 2]
        for u in range(3):
            v, along = (u + 1) % 3, (u + 2) % 3
            ax, ay = a[u] - point[u], a[v] - point[v]
            bx, by = b[u] - point[u], b[v] - point[v]
            cx, cy = c[u] - point[u], c[v] - point[v]
            ab, bc, ca = ax * by - ay * bx, bx * cy - by * cx, cx * ay - cy * ax
            facing = int(ab > 0 and bc > 0 and ca > 0) - int(ab < 0 and bc < 0 and ca < 0)
            if facing:     # the line meets the triangle, on this side or the other
                height = (bc * (a[along] - point[along]) + ca * (b[along] - point[along])
                          + ab * (c[along] - point[along]))
                passed[2 * u + int(facing * height > 0)] += facing
    return np.count_nonzero(passed)
