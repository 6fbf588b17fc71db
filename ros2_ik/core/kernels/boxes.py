"""Broad phase: pairs of bounding boxes that may be near each other; points inside meshes."""

import math

import numpy as np

from ros2_ik.core.kernels.rows import compose, FLOATING, floating_placement, REVOLUTE, turn_about_z
from ros2_ik.core.kernels.source import inner_part, loop

FAR = 0.1    # distance of two AABBs above which the tighter bound is not computed [m]


@inner_part
def place_boxes(q, bodies, motions, nodes, boxes, centred, halves):
    """
    Fill `centred` (i, 12), placements of boxes, and `halves` (i, 3), half sizes of their AABBs.

    Both are in the root frame. See `near_pairs` for the other arguments. `rows.place_bodies` also
    places bodies and computes twists; one function for both made descents up to 10 % slower.
    """
    placed, free = np.empty((len(bodies) + 1, 12)), np.empty((2, 12))
    # forward kinematics, parents first; row 0 is the root, row k + 1 is body k
    for j in range(12):
        placed[0, j] = 0.0
    placed[0, 0] = placed[0, 4] = placed[0, 8] = 1.0
    for k in range(len(bodies)):
        parent, kind, place = bodies[k, 0] + 1, bodies[k, 1], bodies[k, 2]
        if kind == FLOATING:
            compose(placed, parent, motions, k, free, 0)
            floating_placement(q, place, free, 1)
            compose(free, 0, free, 1, placed, k + 1)
            continue
        compose(placed, parent, motions, k, placed, k + 1)
        value = motions[k, 12] * q[place] + motions[k, 13]
        if kind == REVOLUTE:
            turn_about_z(placed, k + 1, value)
        else:
            for r in range(3):
                placed[k + 1, 9 + r] += value * placed[k + 1, 3 * r + 2]
    # the boxes on the bodies; half size of an AABB: |R| times the half size of the box
    for i in range(len(nodes)):
        compose(placed, nodes[i] + 1, boxes, i, centred, i)
        for r in range(3):
            halves[i, r] = (abs(centred[i, 3 * r]) * boxes[i, 12]
                            + abs(centred[i, 3 * r + 1]) * boxes[i, 13]
                            + abs(centred[i, 3 * r + 2]) * boxes[i, 14])


@inner_part
def face_separation(centred, boxes, a, b):
    """
    Return the largest signed distance of two boxes along the face normals of either [m].

    A lower bound of their signed distance, which is the largest along all directions.
    """
    best = -np.inf
    for side in range(6):
        one, i = (a, side) if side < 3 else (b, side - 3)
        x, y, z = centred[one, i], centred[one, 3 + i], centred[one, 6 + i]
        other = b if side < 3 else a
        # distance of the centres along the normal, less the extents of both boxes
        away = abs(x * (centred[other, 9] - centred[one, 9])
                   + y * (centred[other, 10] - centred[one, 10])
                   + z * (centred[other, 11] - centred[one, 11])) - boxes[one, 12 + i]
        for j in range(3):
            away -= boxes[other, 12 + j] * abs(x * centred[other, j] + y * centred[other, 3 + j]
                                               + z * centred[other, 6 + j])
        best = max(best, away)
    return best


@inner_part
def aabb_distance(centred, halves, a, b):
    """Return the signed distance of the AABBs of two boxes [m]."""
    squared, largest = 0.0, -np.inf
    for r in range(3):
        away = abs(centred[a, 9 + r] - centred[b, 9 + r]) - halves[a, r] - halves[b, r]
        largest = max(largest, away)
        squared += max(away, 0.0) ** 2
    return math.sqrt(squared) if largest > 0 else largest


@loop("f8(Array(f8, 1, 'C', True), i8[:,::1], f8[:,::1], i8[::1], f8[:,::1], i8[:,::1], f8[::1], "
      'f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1])')
def follow_pairs(q, bodies, motions, nodes, boxes, pairs, margins, before, known, centred, least,
                 closing):
    """
    Fill lower bounds of the pairs' distances at q, from the bounds at a previous configuration.

    Inputs: `before` (i, 12), the boxes' previous placements, and `known` (p,), the previous
    `least`. Outputs: `centred` (i, 12), the boxes' placements; `least` (p,), lower bounds of
    distance minus margin [m]; `closing` (p,), by how much each pair may have come closer [m]. See
    `near_pairs` for the other arguments. Return the smallest of `least`.
    """
    nearest = np.inf
    halves, moved = np.empty((len(nodes), 3)), np.empty(len(nodes))
    place_boxes(q, bodies, motions, nodes, boxes, centred, halves)
    # how far each box's points moved at most
    for i in range(len(nodes)):
        shift, turn, radius = 0.0, 0.0, 0.0
        for j in range(9):
            turn += (centred[i, j] - before[i, j]) ** 2
        for j in range(3):
            shift += (centred[i, 9 + j] - before[i, 9 + j]) ** 2
            radius += boxes[i, 12 + j] ** 2
        # a rotation moves a point at most by its distance from the centre times the largest
        # change of a direction, whose square is half the sum of squares of R's changes
        moved[i] = math.sqrt(shift) + math.sqrt(radius * turn / 2)
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        closing[k] = moved[a] + moved[b]
        still = known[k] - closing[k]
        # the larger of two bounds: the previous one less the motion, and that of the boxes now
        bound = aabb_distance(centred, halves, a, b)
        if bound < FAR and not still > bound - margins[k]:
            bound = max(bound, face_separation(centred, boxes, a, b))
        # comparisons with `not`: NaN counts as near
        least[k] = still if still > bound - margins[k] else bound - margins[k]
        if not least[k] >= nearest:
            nearest = least[k] if least[k] == least[k] else -np.inf
    return nearest


@loop("i8(Array(f8, 1, 'C', True), i8[:,::1], f8[:,::1], i8[::1], f8[:,::1], i8[:,::1], f8[::1], "
      'i8[::1])')
def near_pairs(q, bodies, motions, nodes, boxes, pairs, margins, near):
    """
    Fill `near` (p,) with the numbers of the pairs whose boxes may touch at q; return their count.

    q (nq,) may be read-only. The kinematic tree (see `Tree`) is `bodies` (k, 3): parent (-1: the
    root), kind of joint and index of its first value in q; and `motions` (k, 14): placement in the
    parent, multiplier and offset of the joint value. Box i is fixed to body nodes[i] (-1: the
    root); `boxes` (i, 15) are the placements of their centres and their half sizes [m]. `pairs`
    (p, 2) of boxes may touch if their distance is at most `margins` (p,) [m].
    """
    centred, halves = np.empty((len(nodes), 12)), np.empty((len(nodes), 3))
    place_boxes(q, bodies, motions, nodes, boxes, centred, halves)
    found = 0
    for k in range(len(pairs)):
        a, b, margin = pairs[k, 0], pairs[k, 1], margins[k]
        # first the AABBs, which is cheap; NaN counts as near
        if (abs(centred[a, 9] - centred[b, 9]) > halves[a, 0] + halves[b, 0] + margin
                or abs(centred[a, 10] - centred[b, 10]) > halves[a, 1] + halves[b, 1] + margin
                or abs(centred[a, 11] - centred[b, 11]) > halves[a, 2] + halves[b, 2] + margin):
            continue
        # separating axes: 6 face normals; the 9 cross products of edges would only rule out
        # another 7 % of the pairs
        if not face_separation(centred, boxes, a, b) > margin:
            near[found] = k
            found += 1
    return found


@loop('i8(f8[:,:,::1], f8[::1])')
def count_leaving(corners, point):
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
