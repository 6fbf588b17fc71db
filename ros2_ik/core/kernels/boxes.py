"""Pairs of boxes, carried by the bodies of a tree, that may be near each other."""

import math

import numpy as np

from ros2_ik.core.kernels.rows import layout_of, place_bodies, work_of
from ros2_ik.core.kernels.source import inner_part, loop

CLOSE_RANGE = 0.1   # [m]; boxes farther apart need no closer look


@inner_part
def upright_halves(centred, sizes, halves):
    """Fill half the sizes (i, 3) of upright boxes round boxes."""
    for i in range(len(sizes)):
        for r in range(3):
            halves[i, r] = (abs(centred[i, 3 * r]) * sizes[i, 0]
                            + abs(centred[i, 3 * r + 1]) * sizes[i, 1]
                            + abs(centred[i, 3 * r + 2]) * sizes[i, 2])


@inner_part
def along_sides(centred, sizes, a, b):
    """
    Return the largest distance of two boxes along the face normals of either.

    Their signed distance, the largest along all directions, is not below it.
    """
    best = -np.inf
    for side in range(6):
        one, i = (a, side) if side < 3 else (b, side - 3)
        x, y, z = centred[one, i], centred[one, 3 + i], centred[one, 6 + i]
        other = b if side < 3 else a
        away = abs(x * (centred[other, 9] - centred[one, 9])
                   + y * (centred[other, 10] - centred[one, 10])
                   + z * (centred[other, 11] - centred[one, 11])) - sizes[one, i]
        for j in range(3):
            away -= sizes[other, j] * abs(x * centred[other, j] + y * centred[other, 3 + j]
                                          + z * centred[other, 6 + j])
        best = max(best, away)
    return best


@inner_part
def upright_distance(centred, halves, a, b):
    """Return the signed distance of the upright boxes round two boxes."""
    squared, largest = 0.0, -np.inf
    for r in range(3):
        away = abs(centred[a, 9 + r] - centred[b, 9 + r]) - halves[a, r] - halves[b, r]
        largest = max(largest, away)
        squared += max(away, 0.0) ** 2
    return math.sqrt(squared) if largest > 0 else largest


@loop("f8(Array(f8, 1, 'C', True), f8[::1], i8[::1], f8[:,::1], i8[:,::1], f8[::1], f8[:,::1], "
      'f8[::1], f8[:,::1], f8[::1], f8[::1])')
def follow_pairs(q, numbers, layout, sizes, pairs, margins, before, known, centred, least,
                 closing):
    """
    Fill bounds of the pairs' distances (p,) at q, using those `known` at a q before.

    `least` are lower bounds of their distances less their margins, `closing` by how much they may
    have come nearer to each other. `centred` (i, 12) are the boxes' placements, which were at
    `before`. For the other arguments see `near_pairs`. Return the smallest of `least`.
    """
    at = layout_of(numbers, layout)
    work, nearest = work_of(at), np.inf
    halves, moved = np.empty((len(sizes), 3)), np.empty(len(sizes))
    place_bodies(at, q, work)
    centred[:] = work.frame_placed
    upright_halves(centred, sizes, halves)
    for i in range(len(sizes)):
        shift, turn, radius = 0.0, 0.0, 0.0
        for j in range(9):
            turn += (centred[i, j] - before[i, j]) ** 2
        for j in range(3):
            shift += (centred[i, 9 + j] - before[i, 9 + j]) ** 2
            radius += sizes[i, j] ** 2
        # a turn moves no point farther than its distance times the largest change of a direction
        moved[i] = math.sqrt(shift) + math.sqrt(radius * turn / 2)
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        closing[k] = moved[a] + moved[b]
        still = known[k] - closing[k]
        bound = upright_distance(centred, halves, a, b)
        if bound < CLOSE_RANGE and not still > bound - margins[k]:
            bound = max(bound, along_sides(centred, sizes, a, b))
        # written so that what is no number is near
        least[k] = still if still > bound - margins[k] else bound - margins[k]
        if not least[k] >= nearest:
            nearest = least[k] if least[k] == least[k] else -np.inf
    return nearest


@loop("i8(Array(f8, 1, 'C', True), f8[::1], i8[::1], f8[:,::1], i8[:,::1], f8[::1], i8[::1])")
def near_pairs(q, numbers, layout, sizes, pairs, margins, near):
    """
    Fill `near` (p,) with the numbers of the pairs whose boxes may touch at q; return how many.

    q (nq,) may be read-only. The boxes' middles are the frames of `numbers` and `layout`, see
    `layout_of`; `sizes` (i, 3) are half their sizes. `pairs` (p, 2) of boxes may touch if they
    are at most `margins` (p,) apart.
    """
    at = layout_of(numbers, layout)
    work, halves = work_of(at), np.empty((len(sizes), 3))
    place_bodies(at, q, work)
    centred = work.frame_placed
    upright_halves(centred, sizes, halves)
    found = 0
    for k in range(len(pairs)):
        a, b, margin = pairs[k, 0], pairs[k, 1], margins[k]
        # written so that what is no number is near
        if (abs(centred[a, 9] - centred[b, 9]) > halves[a, 0] + halves[b, 0] + margin
                or abs(centred[a, 10] - centred[b, 10]) > halves[a, 1] + halves[b, 1] + margin
                or abs(centred[a, 11] - centred[b, 11]) > halves[a, 2] + halves[b, 2] + margin):
            continue
        # tests of the edges' cross products as well would leave out another 7 % of the pairs
        if not along_sides(centred, sizes, a, b) > margin:
            near[found] = k
            found += 1
    return found
