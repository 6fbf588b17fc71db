"""Contacts between given pairs of a robot's links, one pair after another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.collision_geometry import own_geometries
from ros2_ik.core.scene.contact_check import ContactCheck
from ros2_ik.core.scene.pair_model import geometries_model, PairModel
from ros2_ik.core.scene.robot_geometry import RobotGeometry


class LinkContacts:
    """
    Which of `pairs` touch at joint values, as `CollisionChecker` decides it.

    The depth of a mesh is that of its hull, which is there at once and always the same.
    """

    def __init__(self, robot: Robot, geometry: RobotGeometry,
                 pairs: Sequence[tuple[str, str]]) -> None:
        self._robot, self._count = robot, len(pairs)
        items = own_geometries(robot, geometry)
        chosen, self._pair_of = _item_pairs([item.name for item in items], pairs)
        self._items = PairModel(robot, geometries_model(items), items, chosen)
        self._check = ContactCheck(self._items, chosen)

    def touching(self, q: Array) -> Mask:
        """Return which pairs touch at q (nq,)."""
        found = np.zeros(self._count, dtype=bool)
        found[self._pair_of[self._check.touching(q)]] = True
        return found

    def depths(self, q: Array, chosen: Mask) -> Array:
        """Return the depths [m] of the chosen pairs at q (nq,); negative: apart by that."""
        data = self._robot.scratch_data()
        pin.forwardKinematics(self._robot.model, data, q)
        placed = self._items.place(data)
        numbers = [np.flatnonzero(self._pair_of == i).tolist() for i in np.flatnonzero(chosen)]
        return np.array([max(self._depth(placed, k) for k in some) for some in numbers],
                        dtype=np.float64)

    def _depth(self, placed: Any, k: int) -> float:
        pin.computeDistance(self._items.model, placed, k)
        return -float(placed.distanceResults[k].min_distance)


def _item_pairs(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[Indices, Indices]:
    """Return the pairs of items (k, 2) between pairs of links, and which of these each is of."""
    of_link: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        of_link.setdefault(name, []).append(number)
    found = [(one, other, i) for i, (first, second) in enumerate(pairs)
             for one in of_link[first] for other in of_link[second]]
    table = np.array(found, dtype=np.intp).reshape(-1, 3)
    return table[:, :2], table[:, 2]
