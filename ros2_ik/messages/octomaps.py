"""Octomap messages whose id is OcTree."""

from collections.abc import Iterator, Sequence
import struct
from typing import Protocol

import numpy as np

from ros2_ik.core import OcTree
from ros2_ik.messages.request_error import wrong

DEPTH = 16
MOST_CELLS = 2_000_000
OCCUPIED, INNER = 2, 3      # states of a child
Cell = tuple[int, int, int]     # the lowest corner of a node, in cells


class Octomap(Protocol):
    """The fields of an Octomap message that are read."""

    binary: bool
    resolution: float
    data: Sequence[int]


def read_octomap(message: Octomap) -> OcTree:
    """
    Return the occupied cells of an Octomap message.

    Raises RequestError for bytes that are no tree of type OcTree, or hold no occupied cell.
    """
    data, blocks, count = np.asarray(message.data, dtype=np.int8).tobytes(), [], 0
    for low, edge in _leaves(data, bool(message.binary)):
        count += edge ** 3
        if count > MOST_CELLS:
            raise wrong(f'the octomap has more than {MOST_CELLS} occupied cells')
        steps = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing='ij'), axis=-1)
        blocks.append(steps.reshape(-1, 3) + np.array(low) + 0.5)
    if not blocks:
        raise wrong('the octomap has no occupied cell')
    return OcTree(np.concatenate(blocks) * message.resolution, message.resolution)


def _leaves(data: bytes, binary: bool) -> Iterator[tuple[Cell, int]]:
    """
    Yield the occupied leaves, depth first, with their edges in cells.

    Binary: two bytes a node, two bits a child: 0 unknown, 1 free, 2 occupied, 3 has children;
    full: a float32 (log odds) and a byte with one bit for each child that exists.

    Source: octomap's OcTreeBaseImpl and OccupancyOcTreeBase.
    """
    half = 1 << (DEPTH - 1)
    waiting, at, size = [((-half, -half, -half), 2 * half)], 0, 2 if binary else 5
    while waiting:
        (x, y, z), edge = waiting.pop()
        if at + size > len(data):
            break
        if binary:
            bits = data[at] | data[at + 1] << 8
            states = [bits >> (2 * i) & 3 for i in range(8)]
        else:
            value, mask = struct.unpack_from('<fB', data, at)
            states = [INNER * (mask >> i & 1) for i in range(8)]
            if not mask and value >= 0:
                yield (x, y, z), edge
        if edge == 1 and any(states):
            break
        at, half = at + size, edge // 2
        children = [((x + half * (i & 1), y + half * (i >> 1 & 1), z + half * (i >> 2 & 1)), half)
                    for i in range(8)]
        yield from (children[i] for i in range(8) if states[i] == OCCUPIED)
        waiting += [children[i] for i in reversed(range(8)) if states[i] == INNER]
    else:
        if at == len(data):
            return
    raise wrong(f'the octomap is no tree of type OcTree: broken at byte {at}')
