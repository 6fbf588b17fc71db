"""Loops of collision checks: near pairs of bounding boxes, gradients of distances, ray counts."""

import math

import numpy as np

from ros2_ik.core.kernels.rows import layout_of, place_bodies, Work
from ros2_ik.core.kernels.source import inner_part, loop

COARSE_DISTANCE = 0.1    # AABB distance above which lower bounds ignore `face_separation` [m]


@inner_part
def place_boxes(q, numbers, layout, sizes, centred, halves):
    """
    Fill `centred` (i, 12) with boxes' placements and `halves` (i, 3) with their AABBs' half sizes.

    Both are in the root frame. See `near_pairs` for the other arguments.
    """
    at = layout_of(numbers, layout)
    placed, scratch = np.zeros((at.bodies + 1, 12)), np.empty((2, 12))
    placed[0, 0] = placed[0, 4] = placed[0, 8] = 1.0    # row 0 is the root
    twists = np.empty((at.table[at.motion + at.bodies], 6))
    # the last two arrays, for rows of functions, are not used
    place_bodies(at, q, Work(placed, twists, scratch, centred, scratch, scratch))
    # half size of an AABB: |R| times the half size of the box
    for i in range(len(sizes)):
        for r in range(3):
            halves[i, r] = (abs(centred[i, 3 * r]) * sizes[i, 0]
                            + abs(centred[i, 3 * r + 1]) * sizes[i, 1]
                            + abs(centred[i, 3 * r + 2]) * sizes[i, 2])


@inner_part
def face_separation(centred, sizes, a, b):
    """
    Return a lower bound of the signed distance of two boxes [m].

    The distance is the largest gap along any direction; the bound considers only face normals.
    """
    best = -np.inf
    for side in range(6):
        one, i = (a, side) if side < 3 else (b, side - 3)
        x, y, z = centred[one, i], centred[one, 3 + i], centred[one, 6 + i]
        other = b if side < 3 else a
        # distance of the centres along the normal, less the half extents of both boxes
        gap = abs(x * (centred[other, 9] - centred[one, 9])
                  + y * (centred[other, 10] - centred[one, 10])
                  + z * (centred[other, 11] - centred[one, 11])) - sizes[one, i]
        for j in range(3):
            gap -= sizes[other, j] * abs(x * centred[other, j] + y * centred[other, 3 + j]
                                         + z * centred[other, 6 + j])
        best = max(best, gap)
    return best


@inner_part
def aabb_distance(centred, halves, a, b):
    """Return the signed distance of the AABBs of two boxes [m]."""
    squared, largest = 0.0, -np.inf
    for r in range(3):
        gap = abs(centred[a, 9 + r] - centred[b, 9 + r]) - halves[a, r] - halves[b, r]
        largest = max(largest, gap)
        squared += max(gap, 0.0) ** 2
    return math.sqrt(squared) if largest > 0 else largest


@loop("f8(Array(f8, 1, 'C', True), f8[::1], i8[::1], f8[:,::1], i8[:,::1], f8[::1], "
      'Tuple((f8[:,::1], f8[::1])), Tuple((f8[:,::1], f8[:,::1])))')
def fill_lower_bounds(q, numbers, layout, sizes, pairs, margins, previous, current):
    """
    Fill lower bounds of the pairs' distances at q, using the bounds at a previous configuration.

    `previous` has the boxes' placements (i, 12) and the lower bounds (p,) at that configuration.
    `current` are outputs: the boxes' placements (i, 12) at q, and an array (2, p) of lower bounds
    of distance minus margin [m], then of upper bounds of each distance's decrease [m]. See
    `near_pairs` for the other arguments. Return the smallest of the new lower bounds.
    """
    (before, previous_bounds), (centred, bounds), nearest = previous, current, np.inf
    lower_bounds, max_decrease = bounds[0], bounds[1]
    halves, moved = np.empty((len(sizes), 3)), np.empty(len(sizes))
    place_boxes(q, numbers, layout, sizes, centred, halves)
    # upper bound of the displacement of any point of a box
    for i in range(len(sizes)):
        shift, turn, radius = 0.0, 0.0, 0.0
        for j in range(9):
            turn += (centred[i, j] - before[i, j]) ** 2
        for j in range(3):
            shift += (centred[i, 9 + j] - before[i, 9 + j]) ** 2
            radius += sizes[i, j] ** 2
        # a rotation moves a point by at most |dR| times its distance from the centre, where dR is
        # the change of R, and |dR|^2 (spectral norm) is half the sum of its squared elements
        moved[i] = math.sqrt(shift) + math.sqrt(radius * turn / 2)
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        max_decrease[k] = moved[a] + moved[b]
        reduced = previous_bounds[k] - max_decrease[k]
        # the larger of two bounds: the previous one less the motion, and the gap of the boxes now
        bound = aabb_distance(centred, halves, a, b)
        if bound < COARSE_DISTANCE and not reduced > bound - margins[k]:
            bound = max(bound, face_separation(centred, sizes, a, b))
        # comparisons with `not`: NaN counts as near
        lower_bounds[k] = reduced if reduced > bound - margins[k] else bound - margins[k]
        if not lower_bounds[k] >= nearest:
            nearest = lower_bounds[k] if lower_bounds[k] == lower_bounds[k] else -np.inf
    return nearest


@loop("i8(Array(f8, 1, 'C', True), f8[::1], i8[::1], f8[:,::1], i8[:,::1], f8[::1], i8[::1])")
def near_pairs(q, numbers, layout, sizes, pairs, margins, near):
    """
    Fill `near` (p,) with the indices of the pairs that are near at q; return their count.

    q (nq,) may be read-only. `numbers` and `layout` are those of a program whose frames are the
    centres of the boxes, see `layout_of`; `sizes` (i, 3) are the half sizes of the boxes [m].
    The boxes in a row of `pairs` (p, 2) are near if they may be at most `margins` (p,) [m] apart.
    """
    centred, halves = np.empty((len(sizes), 12)), np.empty((len(sizes), 3))
    place_boxes(q, numbers, layout, sizes, centred, halves)
    found = 0
    for k in range(len(pairs)):
        a, b, margin = pairs[k, 0], pairs[k, 1], margins[k]
        # compare the AABBs, which is cheap, then the extents along the 6 face normals. The 9 cross
        # products of edges would rule out only another 7 % of the pairs. NaN counts as near
        if not (aabb_distance(centred, halves, a, b) > margin
                or face_separation(centred, sizes, a, b) > margin):
            near[found] = k
            found += 1
    return found


@loop('void(f8[:,::1], f8[:,::1], f8[:,:], f8[:,::1], i8[::1], f8[:,::1])')
def fill_distance_slopes(normals, points, twists, moves, pairs, J):
    """
    Fill J (k, n) with gradients of pairs' distances; `pairs` (k,) are the pairs' rows in `moves`.

    `normals` (k, 3) point from the first body of a pair to the second; `points` (k, 3) are the
    nearest points on the second. `twists` (6, n) are the columns of the spatial Jacobian (linear,
    angular); `moves` (p, n) are 1 if a column moves only the second body, -1 if only the first.
    """
    for i in range(len(pairs)):
        nx, ny, nz = normals[i]
        px, py, pz = points[i]
        # moment of a unit force along the normal; both nearest points lie on its line of action
        mx, my, mz = py * nz - pz * ny, pz * nx - px * nz, px * ny - py * nx
        for j in range(J.shape[1]):
            J[i, j] = 0.0
            if moves[pairs[i], j] != 0:
                J[i, j] = moves[pairs[i], j] * (
                    nx * twists[0, j] + ny * twists[1, j] + nz * twists[2, j]
                    + mx * twists[3, j] + my * twists[4, j] + mz * twists[5, j])


@loop('i8(f8[:,:,::1], f8[::1])')
def count_exiting_rays(corners, point):
    """
    Count the rays from a point (3,) along +-x, +-y, +-z that leave a surface of triangles.

    `corners` (m, 3, 3) are the triangles' corners, consistently oriented. A ray leaves the surface
    if its outward and inward crossings differ in number.
    """
    passed = np.zeros(6, np.int64)
    for i in range(len(corners)):
        a, b, c = corners[i, 0], corners[i, 1], corners[i, 2]
        for u in range(3):
            # the triangle relative to the point, projected along one axis
            v, along = (u + 1) % 3, (u + 2) % 3
            ax, ay = a[u] - point[u], a[v] - point[v]
            bx, by = b[u] - point[u], b[v] - point[v]
            cx, cy = c[u] - point[u], c[v] - point[v]
            # the projection contains the point if all edges turn the same way round it
            ab, bc, ca = ax * by - ay * bx, bx * cy - by * cx, cx * ay - cy * ax
            facing = int(ab > 0 and bc > 0 and ca > 0) - int(ab < 0 and bc < 0 and ca < 0)
            if facing:
                # the sign of the crossing's coordinate decides between the two half-axes
                height = (bc * (a[along] - point[along]) + ca * (b[along] - point[along])
                          + ab * (c[along] - point[along]))
                passed[2 * u + int(facing * height > 0)] += facing
    return np.count_nonzero(passed)
