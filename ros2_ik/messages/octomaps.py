"""Reading of Octomap messages with the id OcTree."""

from collections.abc import Iterator
import struct
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core import OcTree
from ros2_ik.messages.request_error import wrong

if TYPE_CHECKING:
    from octomap_msgs.msg import Octomap

DEPTH = 16                      # levels of octomap's trees
MAX_CELLS = 2_000_000           # number of occupied cells
OCCUPIED, INNER = 2, 3          # states of a child node in the binary format
Cell = tuple[int, int, int]     # corner of a node with the lowest coordinates [cells]


def read_octomap(message: 'Octomap') -> OcTree | None:
    """
    Return the occupied cells of an Octomap message as a shape, None without any.

    Raises RequestError for data that is not a tree of type OcTree.
    """
    # a leaf above the lowest level stands for edge^3 cells
    data, blocks, count = np.asarray(message.data, dtype=np.int8).tobytes(), [], 0
    for low, edge in _leaves(data, bool(message.binary)):
        count += edge ** 3
        if count > MAX_CELLS:
            raise wrong(f'the octomap has more than {MAX_CELLS} occupied cells')
        steps = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing='ij'), axis=-1)
        blocks.append(steps.reshape(-1, 3) + np.array(low) + 0.5)
    if not blocks:
        return None
    return OcTree(np.concatenate(blocks) * message.resolution, message.resolution)


def _leaves(data: bytes, binary: bool) -> Iterator[tuple[Cell, int]]:
    """
    Yield the occupied leaves, depth first, as (lowest corner, edge) in cells.

    Binary format: two bytes per node, two bits per child: 0 unknown, 1 free, 2 occupied, 3 has
    children. Full format: per node a float32 (log odds) and a byte with a bit per existing child.

    Source: octomap's OcTreeBaseImpl and OccupancyOcTreeBase.
    """
    half = 1 << (DEPTH - 1)
    # nodes still to be read, next node last; their bytes follow from offset `at`
    stack, at, size = [((-half, -half, -half), 2 * half)], 0, 2 if binary else 5
    while stack:
        (x, y, z), edge = stack.pop()
        if at + size > len(data):
            break
        if binary:
            bits = data[at] | data[at + 1] << 8
            states = [bits >> (2 * i) & 3 for i in range(8)]
        else:
            value, mask = struct.unpack_from('<fB', data, at)
            states = [INNER * (mask >> i & 1) for i in range(8)]
            # a leaf with log odds >= 0 is occupied with a probability >= 0.5
            if not mask and value >= 0:
                yield (x, y, z), edge
        # a child below the lowest level: not a valid tree
        if edge == 1 and any(states):
            break
        at, half = at + size, edge // 2
        # child i is in the upper half of x, y, z if bits 0, 1, 2 of i are set
        children = [((x + half * (i & 1), y + half * (i >> 1 & 1), z + half * (i >> 2 & 1)), half)
                    for i in range(8)]
        yield from (children[i] for i in range(8) if states[i] == OCCUPIED)
        stack += [children[i] for i in reversed(range(8)) if states[i] == INNER]
    else:
        if at == len(data):
            return
    raise wrong(f'the octomap is no tree of type OcTree: invalid at byte {at}')
