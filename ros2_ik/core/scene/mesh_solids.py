"""
The solids that a mesh is made of.

A mesh may be several closed surfaces that overlap, as where a bin is five boxes. Counted
together, what is inside two of them would count twice.
"""

import numpy as np

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.scene.components import components
from ros2_ik.core.scene.meshes import signed_volume
from ros2_ik.core.scene.nested_surfaces import NestedSurfaces

MOST_SOLIDS = 200     # of more, telling which to take together takes longer than it is worth


def solids_of(vertices: Array, triangles: Indices, most: int) -> list[Indices]:
    """
    Part the triangles (m, 3) of a mesh into those of at most `most` solids.

    Each is closed but for the last, if there is an open rest. A surface turned inwards belongs
    to the solid it hollows out. Small solids near each other are taken together where there are
    more than `most`.
    """
    labels, closed = surfaces(corners_of(vertices, triangles))
    groups = [triangles[labels == label] for label in np.flatnonzero(closed)] \
        if closed.sum() <= MOST_SOLIDS else []
    rest = triangles[~closed[labels]] if groups else triangles
    solids, lost = _hollowed(vertices, groups)
    rest = np.concatenate([rest, *lost])
    room = max(most - bool(len(rest)), 1)
    return [*_near_together(vertices, solids, room), *([rest] if len(rest) else [])]


def corners_of(vertices: Array, triangles: Indices) -> Indices:
    """Return numbers (m, 3) of the triangles' corners, the same where these are in one place."""
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    corners: Indices = same.reshape(-1)[triangles]
    return corners


def surfaces(corners: Indices) -> tuple[Indices, Mask]:
    """
    Return which surface each triangle is of, (m,), and which surfaces are closed.

    `corners` (m, 3) are numbers of points. Where more than two triangles meet at an edge, those of
    one surface belong together.
    """
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    owner, proper = np.repeat(np.arange(len(corners)), 3), start != end
    start, end, owner = start[proper], end[proper], owner[proper]
    forth = start < end
    _, edge = np.unique(np.minimum(start, end) * (corners.max() + 1) + np.maximum(start, end),
                        return_inverse=True)
    edge, labels = edge.reshape(-1), np.arange(len(corners))
    while True:
        edge, forth, owner = _unmatched(edge, forth, owner, labels)
        one, other = _mates(edge, forth, owner)
        if not len(one):
            break
        labels = components(labels[one], labels[other], len(corners))[labels]
    closed = np.ones(int(labels.max()) + 1, dtype=bool)
    closed[labels[owner]] = False
    return labels, closed


def _unmatched(edge: Indices, forth: Mask, owner: Indices,
               labels: Indices) -> tuple[Indices, Mask, Indices]:
    """Leave the edges out that a surface passes as often forth as back."""
    key = edge * (labels.max() + 1) + labels[owner]
    _, which = np.unique(key, return_inverse=True)
    balance = np.bincount(which.reshape(-1), np.where(forth, 1, -1))
    left = balance[which.reshape(-1)] != 0
    return edge[left], forth[left], owner[left]


def _mates(edge: Indices, forth: Mask, owner: Indices) -> tuple[Indices, Indices]:
    """Return the triangles on both sides of each edge that is passed once forth and once back."""
    if not len(edge):
        return owner, owner
    back = ~forth
    single = (np.bincount(edge[forth], minlength=edge.max() + 1) == 1) \
        & (np.bincount(edge[back], minlength=edge.max() + 1) == 1)
    one, other = single[edge] & forth, single[edge] & back
    return owner[one][np.argsort(edge[one])], owner[other][np.argsort(edge[other])]


def _hollowed(vertices: Array,
              groups: list[Indices]) -> tuple[list[Indices], list[Indices]]:
    """Join surfaces turned inwards with the solids that they hollow out; gives the others too."""
    volumes = np.array([signed_volume(vertices[group]) for group in groups])
    if (volumes > 0).all():
        return groups, []
    nested, solids, lost = NestedSurfaces(vertices, groups), list(groups), []
    for number in np.flatnonzero(volumes <= 0).tolist():
        # lines enclose nothing: they may go with any
        outer = (nested.around(number) if volumes[number] < 0
                 else next((i for i in nested.wider(number) if volumes[i] > 0), None))
        if outer is None or volumes[outer] <= 0:
            lost.append(groups[number])
        else:
            solids[outer] = np.concatenate([solids[outer], groups[number]])
    return [solid for solid, volume in zip(solids, volumes, strict=True) if volume > 0], lost


def _near_together(vertices: Array, solids: list[Indices], most: int) -> list[Indices]:
    """Join solids until there are no more than `most`, those first whose boxes grow least."""
    solids = list(solids)
    lows, highs = _bounds(vertices, solids)
    while len(solids) > most:
        size = (highs - lows).prod(axis=1)
        both = (np.maximum(highs[:, None], highs) - np.minimum(lows[:, None], lows)).prod(axis=2)
        growth = both - size[:, None] - size + np.diag(np.full(len(solids), np.inf))
        i, j = sorted(np.unravel_index(int(growth.argmin()), growth.shape))
        solids[i] = np.concatenate([solids[i], solids.pop(j)])
        lows[i], highs[i] = np.minimum(lows[i], lows[j]), np.maximum(highs[i], highs[j])
        lows, highs = np.delete(lows, j, axis=0), np.delete(highs, j, axis=0)
    return solids


def _bounds(vertices: Array, solids: list[Indices]) -> tuple[Array, Array]:
    """Return the boxes round solids: lowest and highest corners, (n, 3) each."""
    corners = [vertices[np.unique(solid)] for solid in solids]
    return (np.array([points.min(axis=0) for points in corners]).reshape(-1, 3),
            np.array([points.max(axis=0) for points in corners]).reshape(-1, 3))
