"""Octomap messages whose id is OcTree."""

from collections.abc import Iterator
import struct
from typing import Any

import numpy as np

from ros2_ik.core import Array, OcTree
from ros2_ik.messages.request_error import RequestError, wrong

DEPTH = 16
MOST_CELLS = 2_000_000
_OCCUPIED, _INNER = 2, 3
Node = tuple[tuple[int, int, int], int]     # its lowest cell, and its edge in cells


def read_octomap(message: Any) -> OcTree:
    """Return the occupied cells of an Octomap message; raises RequestError."""
    data = np.asarray(message.data, dtype=np.int8).tobytes()
    cells = occupied_cells(data, bool(message.binary))
    return OcTree(cells * message.resolution, message.resolution)


def occupied_cells(data: bytes, binary: bool) -> Array:
    """
    Return the centres of the occupied cells (n, 3), in units of the resolution.

    Binary: two bytes a node, two bits a child: 0 unknown, 1 free, 2 occupied, 3 has children;
    full: a float32 (log odds) and a byte of which children there are. Depth first. Raises
    RequestError for bytes that are no such tree, or hold no occupied cell.

    Source: octomap's OcTreeBaseImpl and OccupancyOcTreeBase.
    """
    half = 1 << (DEPTH - 1)
    blocks, count = [], 0
    for low, edge in _leaves(data, ((-half, -half, -half), 2 * half), binary):
        count += edge ** 3
        if count > MOST_CELLS:
            raise wrong(f'the octomap has more than {MOST_CELLS} occupied cells')
        steps = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing='ij'), axis=-1)
        blocks.append(steps.reshape(-1, 3) + np.array(low) + 0.5)
    if not blocks:
        raise wrong('the octomap has no occupied cell')
    return np.concatenate(blocks).astype(float)


def _children(node: Node) -> list[Node]:
    (x, y, z), edge = node
    half = edge // 2
    return [((x + half * (i & 1), y + half * (i >> 1 & 1), z + half * (i >> 2 & 1)), half)
            for i in range(8)]


def _leaves(data: bytes, root: Node, binary: bool) -> Iterator[Node]:
    """Yield the occupied leaves, depth first; raises RequestError for broken data."""
    waiting, at, size = [root], 0, 2 if binary else 5
    while waiting:
        node = waiting.pop()
        if at + size > len(data):
            raise _broken(at)
        if binary:
            bits = data[at] | data[at + 1] << 8
            states = [bits >> (2 * i) & 3 for i in range(8)]
        else:
            value, mask = struct.unpack_from('<fB', data, at)
            states = [_INNER * (mask >> i & 1) for i in range(8)]
            if not mask and value >= 0:
                yield node
        if node[1] == 1 and any(states):
            raise _broken(at)
        at += size
        children = list(zip(states, _children(node), strict=True))
        yield from (child for state, child in children if state == _OCCUPIED)
        waiting += [child for state, child in children[::-1] if state == _INNER]
    if at != len(data):
        raise _broken(at)


def _broken(at: int) -> RequestError:
    return wrong(f'the octomap is no tree of type OcTree: broken at byte {at}')
