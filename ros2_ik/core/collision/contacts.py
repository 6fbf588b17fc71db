"""Results of a collision check."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ros2_ik.core.arrays import Array


@dataclass(frozen=True)
class Contact:
    """
    Two links or objects that touch, by name or id.

    `depth` [m] is how far they overlap, padding included; `point` (3,) is in
    the middle of the overlap, in the root frame.
    """

    first: str
    second: str
    depth: float
    point: tuple[float, float, float]

    def __str__(self) -> str:
        return f"'{self.first}' is {self.depth:.3g} m inside '{self.second}'"


def deepest(contacts: Iterable[Contact]) -> tuple[Contact, ...]:
    """Keep the deepest contact of each two names, deepest first."""
    kept: dict[tuple[str, str], Contact] = {}
    for contact in sorted(contacts, key=lambda contact: -contact.depth):
        kept.setdefault((contact.first, contact.second), contact)
    return tuple(kept.values())


class Distances(NamedTuple):
    """
    Pairs that are near each other, nearest first.

    `distance` (k,) [m] is negative where they are in each other, by the least motion that parts
    them. `normal` (k, 3) points from the first to the second of `names`; `first_point` and
    `second_point` (k, 3) are the witnesses, in the root frame. `wrench` (k, 6) is [normal,
    moment about the root frame's origin]: the distance grows at wrench @ (V_second - V_first).
    `jacobian` (k, nv) is its derivative.
    """

    names: tuple[tuple[str, str], ...]
    distance: Array
    normal: Array
    first_point: Array
    second_point: Array
    wrench: Array
    jacobian: Array
