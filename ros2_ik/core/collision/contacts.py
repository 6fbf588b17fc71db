"""Results of a collision check."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ros2_ik.core.arrays import Array


@dataclass(frozen=True)
class Contact:
    """
    A contact of two links or objects, given by name or id.

    `depth` is the penetration including padding [m]; `point` (3,) is the middle of the overlap in
    the root frame [m].
    """

    first: str
    second: str
    depth: float
    point: tuple[float, float, float]

    def __str__(self) -> str:
        return f"'{self.first}' is {self.depth:.3g} m inside '{self.second}'"


def deepest(contacts: Iterable[Contact]) -> tuple[Contact, ...]:
    """Return the deepest contact of each pair of names, deepest first."""
    kept: dict[tuple[str, str], Contact] = {}
    for contact in sorted(contacts, key=lambda contact: -contact.depth):
        kept.setdefault((contact.first, contact.second), contact)
    return tuple(kept.values())


class Distances(NamedTuple):
    """
    Distances of k pairs, nearest first; vectors are in the root frame.

    `distance` (k,) [m] is signed distance minus padding; a negative signed distance is minus the
    length of the shortest translation that separates the pair. `normal` (k, 3) points from the
    first to the second of `names`; `first_point` and `second_point` (k, 3) are the nearest points
    [m]. `jacobian` (k, nv) is the derivative of the distance w.r.t. q.
    """

    names: tuple[tuple[str, str], ...]
    distance: Array
    normal: Array
    first_point: Array
    second_point: Array
    jacobian: Array
