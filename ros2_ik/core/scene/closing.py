"""
Closes meshes whose triangles leave holes, so that there is an inside of them.

Many meshes of real robots are open: faces are missing, neighbours are turned differently, corners
that should be one differ by rounding, or each face is there twice, once for each side. Each
connected surface is turned one way round, and each hole in it is covered by a fan of triangles
from the middle of its rim. So what is behind a hole counts as solid, which may call a contact what
is none, never the reverse. The fans are within the hull of the mesh.
"""

from typing import NamedTuple

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.scene.components import components
from ros2_ik.core.scene.mesh_solids import corners_of, surfaces
from ros2_ik.core.scene.meshes import signed_volume
from ros2_ik.core.scene.nested_surfaces import NestedSurfaces

_SAME = 1e-5     # of the extent, within which corners are one where a mesh is open


class ClosedMesh(NamedTuple):
    """
    Vertices (n, 3), first of all those given, and triangles (m, 3), closed and turned outward.

    Surfaces that hollow out others are turned inward. `was_closed` if no more was done than to
    turn whole surfaces, `was_turned` if that was.
    """

    vertices: Array
    triangles: Indices
    was_closed: bool
    was_turned: bool


def closed_mesh(vertices: Array, triangles: Indices) -> ClosedMesh:
    """Close a mesh of vertices (n, 3) and triangles (m, 3)."""
    corners = corners_of(vertices, triangles)
    labels, closed = surfaces(corners)
    closed &= ~_double(corners, labels)
    was_closed = bool(closed.all())
    if not was_closed:
        corners = _welded(vertices, triangles)
        labels, closed = surfaces(corners)
        closed &= ~_double(corners, labels)
    whole = closed[labels]
    groups, patches = _by_label(triangles[whole], labels[whole]), list[Indices]()
    lines = ~whole & (corners == np.roll(corners, 1, axis=1)).any(axis=1)
    rest = ~whole & ~lines
    if rest.any():
        vertices, patches = _patches(vertices, *_one_way_round(triangles[rest], corners[rest]))
    outward, was_turned = _outward(vertices, groups, patches)
    return ClosedMesh(vertices, np.concatenate([*outward, triangles[lines]]), was_closed,
                      was_turned)


def _double(corners: Indices, labels: Indices) -> Mask:
    """Which surfaces have each triangle twice: both sides of a sheet enclose nothing."""
    _, same = np.unique(np.sort(corners, axis=1), axis=0, return_inverse=True)
    pairs = np.unique(np.stack([labels, same.reshape(-1)]), axis=1)[0]
    double: Mask = 2 * np.bincount(pairs) <= np.bincount(labels)
    return double


def _welded(vertices: Array, triangles: Indices) -> Indices:
    """Return numbers (m, 3) of the corners, the same for those that are nearly in one place."""
    used, index = np.unique(triangles, return_inverse=True)
    points = vertices[used]
    near = scipy.spatial.cKDTree(points).query_pairs(
        _SAME * float(np.ptp(points, axis=0).max()), output_type='ndarray')
    return components(near[:, 0], near[:, 1], len(points))[index].reshape(-1, 3)


def _one_way_round(triangles: Indices, corners: Indices) -> tuple[Indices, Indices]:
    """
    Turn triangles as their neighbours; of those that are there several times one is kept.

    Neighbours are two that alone share an edge.
    """
    _, first = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)
    triangles, corners, count = triangles[first], corners[first], len(first)
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    key = np.minimum(start, end) * (corners.max() + 1) + np.maximum(start, end)
    order = np.argsort(key, kind='stable')
    _, begin, times = np.unique(key[order], return_index=True, return_counts=True)
    one, other = order[begin[times == 2]], order[begin[times == 2] + 1]
    same_way = (start < end)[one] == (start < end)[other]      # then one has to be turned
    one, other = one // 3, other // 3
    # each triangle stands twice, as it is and turned: what belongs together is one component
    labels = components(
        np.concatenate([one, one + count]),
        np.concatenate([other + count * same_way, other + count * ~same_way]), 2 * count)
    turned = labels[:count] > labels[count:]
    triangles, corners = triangles.copy(), corners.copy()
    for rows in (triangles, corners):
        rows[turned] = rows[turned][:, ::-1]
    return triangles, corners


def _patches(vertices: Array, triangles: Indices,
             corners: Indices) -> tuple[Array, list[Indices]]:
    """Return the surfaces, each with fans over its holes, and the vertices with theirs."""
    labels, _ = surfaces(corners)
    start, end = triangles.reshape(-1), np.roll(triangles, -1, axis=1).reshape(-1)
    first, last = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    owner, forth, size = np.repeat(labels, 3), first < last, int(corners.max()) + 1
    key = (owner * size + np.minimum(first, last)) * size + np.maximum(first, last)
    _, which = np.unique(key, return_inverse=True)
    which = which.reshape(-1)
    balance = np.bincount(which, np.where(forth, 1, -1))[which]
    rim = np.flatnonzero((balance != 0) & ((balance > 0) == forth))
    rim = rim[_rank(which[rim]) < np.abs(balance[rim])]
    # a rim is what hangs together of one surface
    ends = owner[rim] * size + first[rim], owner[rim] * size + last[rim]
    points, index = np.unique(np.concatenate(ends), return_inverse=True)
    index = index.reshape(2, -1)
    rims = components(index[0], index[1], len(points))[index[0]]
    count = np.bincount(rims)
    centres = np.stack([np.bincount(rims, column) / count
                        for column in vertices[start[rim]].T], axis=1)
    fans = np.stack([end[rim], start[rim], len(vertices) + rims], axis=1)
    return np.concatenate([vertices, centres]), _by_label(
        np.concatenate([triangles, fans]), np.concatenate([labels, owner[rim]]))


def _rank(numbers: Indices) -> Indices:
    """Count, at each of the numbers (k,), those before it that are the same."""
    order = np.argsort(numbers, kind='stable')
    _, begin, times = np.unique(numbers[order], return_index=True, return_counts=True)
    rank = np.empty_like(numbers)
    rank[order] = np.arange(len(numbers)) - np.repeat(begin, times)
    return rank


def _by_label(rows: Indices, labels: Indices) -> list[Indices]:
    order = np.argsort(labels, kind='stable')
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(rows[order], ends) if len(rows) else []


def _outward(vertices: Array, groups: list[Indices],
             patches: list[Indices]) -> tuple[list[Indices], bool]:
    """
    Turn surfaces outward, but closed ones that hollow out others inward; say if any was turned.

    Those inside no other are turned outward. One wholly inside a solid hollows it out if the file
    has it inward and the other outward; or the reverse, where all the outermost are inward.
    `patches` were open: which way round they were says nothing, neither of them nor of what is
    inside of them, which is solid in doubt.
    """
    patches = [patch[:, ::-1] if signed_volume(vertices[patch]) < 0 else patch
               for patch in patches]
    given = [signed_volume(vertices[group]) >= 0 for group in groups]    # 0: a line
    if all(given):
        return [*groups, *patches], False
    nested, outward = NestedSurfaces(vertices, groups), [True] * len(groups)
    around = [nested.around(number) for number in range(len(groups))]
    inside_out = not any(was for was, outer in zip(given, around, strict=True) if outer is None)
    for number in nested.from_largest():
        outer = around[number]
        outward[number] = (outer is None or not outward[outer] or given[number] == given[outer]
                           or given[number] != inside_out)
    turned = [group if is_outward == was else group[:, ::-1]
              for group, is_outward, was in zip(groups, outward, given, strict=True)]
    return [*turned, *patches], outward != given
