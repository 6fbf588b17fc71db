"""
The pairs of a check, split by how they are looked through: bounded items in a tree of boxes.

coal 3.0's dynamic tree loses contacts as soon as two shapes without an end are in it, half-spaces
or planes: those are looked at pair by pair.
"""

from collections.abc import Generator
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.scene.collision_geometry import CollisionGeometry
from ros2_ik.core.scene.geometry_library import coal
from ros2_ik.core.scene.pair_model import geometries_model, PairModel


class SplitPairs:
    """Finds contacts among the pairs of a model; `chosen` is what that was made of."""

    def __init__(self, pairs: PairModel, chosen: Mask | Indices) -> None:
        self._robot = pairs.robot
        endless = np.array([_is_endless(item) for item in pairs.items], dtype=bool)
        beside = endless[pairs.pairs].any(axis=1)
        self._numbers = np.flatnonzero(~beside), np.flatnonzero(beside)
        self._tree, self._beside = pairs, None
        if beside.any():
            self._tree = _bounded(pairs, np.flatnonzero(~endless), chosen)
            self._tree.margins = pairs.margins[~beside]
            self._beside = PairModel(pairs.robot, geometries_model(pairs.items), pairs.items,
                                     pairs.pairs[beside])
            self._beside.margins = pairs.margins[beside]

    def contacts(self, q: Array) -> Generator[int, None, None]:
        """
        Yield the numbers of the pairs that touch at q (nq,), each when it is asked for.

        Pinocchio's scratch data of this thread has the joints there meanwhile; it must not be
        used for other joint values.
        """
        model, data = self._robot.model, self._robot.scratch_data()
        (tree, callback), own = self._tree.broad_phase, self._tree.data
        touches, found = pin.computeCollisions(model, data, tree, callback, q), list[int]()
        try:
            while touches:
                found.append(callback.collisionPairIndex)
                yield int(self._numbers[0][found[-1]])
                own.deactivateCollisionPair(found[-1])    # the next one is wanted
                touches = pin.computeCollisions(tree, callback)
        finally:
            for k in found:
                own.activateCollisionPair(k)
        if self._beside is not None:
            placed = self._beside.place(data)
            for k, number in enumerate(self._numbers[1].tolist()):
                if pin.computeCollision(self._beside.model, placed, k):
                    yield number


def _bounded(pairs: PairModel, places: Indices, chosen: Mask | Indices) -> PairModel:
    """Return the model of the items at these places, in the same order."""
    items = [pairs.items[i] for i in places]
    if chosen.dtype == bool:
        chosen = chosen[np.ix_(places, places)]
    else:
        chosen = np.searchsorted(places, chosen[np.isin(chosen, places).all(axis=1)])
    return PairModel(pairs.robot, geometries_model(items), items, chosen)


def _is_endless(item: CollisionGeometry) -> Any:
    return isinstance(item.geometry, (coal.Halfspace, coal.Plane))
