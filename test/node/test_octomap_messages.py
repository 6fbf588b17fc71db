"""Octomap messages to octrees."""

from types import SimpleNamespace

import numpy as np
import pytest

from ros2_ik.core import OcTree
from ros2_ik.messages.octomaps import read_octomap
from ros2_ik.messages.request_error import RequestError


def read(data: bytes, resolution: float = 0.1, binary: bool = True) -> OcTree:
    return read_octomap(SimpleNamespace(data=np.frombuffer(data, np.int8).tolist(),
                                        resolution=resolution, binary=binary))


def chain(last: int, levels: int = 16) -> bytes:
    """Give each level one inner child, number 7: the last is at the far corner."""
    below = 0b11 << 14
    return below.to_bytes(2, 'little') * (levels - 1) + last.to_bytes(2, 'little')


def test_binary_octomap() -> None:
    tree = read(chain(0b10 << 2 | 0b01))     # child 1 occupied, child 0 free
    edge = (2 ** 15 - 2) * 0.1
    assert tree.points == pytest.approx(np.array([[edge + 0.15, edge + 0.05, edge + 0.05]]))
    assert len(read(chain(0b10, levels=15)).points) == 8     # a leaf of 2 x 2 x 2 cells


def test_full_octomap() -> None:
    def node(value: float, mask: int) -> bytes:
        return np.float32(value).tobytes() + bytes([mask])
    data = node(0, 1) * 13 + node(0, 0b101) + node(2.0, 0) + node(-1.0, 0)
    assert len(read(data, 0.5, binary=False).points) == 4 ** 3


@pytest.mark.parametrize(('data', 'said'), [
    (b'', 'byte 0'), (b'\xff\xff', 'byte 2'), (b'\x02\x00\x00', 'octomap'),
    (b'\x01\x00', 'no occupied'), (b'\x02\x00', 'more than')])
def test_data_of_no_octomap_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        read(data)
