"""
The pairs of a check, split by how they are looked through: bounded items in a tree of boxes.

coal 3.0's dynamic tree loses contacts as soon as two shapes without an end are in it, half-spaces
or planes: those are looked at pair by pair.
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.scene.geometry_library import coal
from ros2_ik.core.scene.items import Item
from ros2_ik.core.scene.pair_model import items_model, PairModel


class SplitPairs:
    """Finds the first contact among the pairs of a model; `chosen` is what that was made of."""

    def __init__(self, pairs: PairModel, chosen: Mask | Indices) -> None:
        self._robot = pairs.robot
        endless = np.array([_is_endless(item) for item in pairs.items], dtype=bool)
        beside = endless[pairs.pairs].any(axis=1)
        self._numbers = np.flatnonzero(~beside), np.flatnonzero(beside)
        self._tree, self._beside = pairs, None
        if beside.any():
            self._tree = _bounded(pairs, np.flatnonzero(~endless), chosen)
            self._tree.margins = pairs.margins[~beside]
            self._beside = PairModel(pairs.robot, items_model(pairs.items), pairs.items,
                                     pairs.pairs[beside])
            self._beside.margins = pairs.margins[beside]

    def first_contact(self, q: Array) -> int | None:
        """
        Return the number of a pair that touches at q (nq,), None if none does.

        Pinocchio's scratch data of this thread has the joints there afterwards.
        """
        model, data = self._robot.model, self._robot.scratch_data()
        tree, callback = self._tree.broad_phase
        if pin.computeCollisions(model, data, tree, callback, q):
            return int(self._numbers[0][callback.collisionPairIndex])
        if self._beside is not None:
            placed = self._beside.place(data)
            if pin.computeCollisions(self._beside.model, placed, True):
                # those before it were looked at now, those after it another time
                first = next(k for k, hit in enumerate(self._beside.collision_results)
                             if hit.isCollision())
                return int(self._numbers[1][first])
        return None


def _bounded(pairs: PairModel, places: Indices, chosen: Mask | Indices) -> PairModel:
    """Return the model of the items at these places, in the same order."""
    items = [pairs.items[i] for i in places]
    if chosen.dtype == bool:
        chosen = chosen[np.ix_(places, places)]
    else:
        chosen = np.searchsorted(places, chosen[np.isin(chosen, places).all(axis=1)])
    return PairModel(pairs.robot, items_model(items), items, chosen)


def _is_endless(item: Item) -> Any:
    return isinstance(item.geometry, (coal.Halfspace, coal.Plane))
