"""Checked pairs of items in a Pinocchio geometry model, with separate data for each thread."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
import threading
from typing import TypeVar
import warnings

import coal
import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.collision.collision_geometry import CollisionGeometry
from ros2_ik.core.collision.geometry_models import geometry_model
from ros2_ik.core.collision.jacobian_masks import columns_carrying
from ros2_ik.core.robot import Robot

T = TypeVar('T')


class PairModel:
    """
    The items of a collision check, and the pairs (k, 2) of their numbers that are checked.

    `chosen` is the mask (i, i) of these pairs, above the diagonal. `margins` (k,) are paddings [m]
    that are subtracted from distances. `model` is Pinocchio's geometry model, read-only; `data`
    belongs to the calling thread and holds the results of its last computation.
    """

    def __init__(self, robot: Robot, items: Sequence[CollisionGeometry], chosen: Mask) -> None:
        self.robot, self.items, self.chosen = robot, items, chosen
        self.model = geometry_model([pin.GeometryObject(
            f'{index} {item.name}', item.joint, item.placement, item.geometry)
            for index, item in enumerate(items)])
        self.pairs = _enter(self.model, items, chosen)
        self.margins = np.zeros(len(self.pairs))
        self._local = threading.local()

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def data(self) -> pin.GeometryData:
        """Pinocchio's GeometryData of the calling thread."""
        return self._kept('data', self._make_data)

    def _make_data(self) -> pin.GeometryData:
        data = self.model.createData()
        # padding is a security margin of coal's collision requests
        data.collisionRequests, data.distanceRequests = _requests(len(self.pairs))
        for k in np.flatnonzero(self.margins).tolist():
            data.collisionRequests[k].security_margin = float(self.margins[k])
        return data

    @property
    def distance_results(self) -> 'list[coal.DistanceResult]':
        """Pinocchio's distance results of the calling thread, one for each pair."""
        return self._kept('distances', lambda: list(self.data.distanceResults))

    def _kept(self, name: str, make: Callable[[], T]) -> T:
        """Return the calling thread's cached value `name`; call `make` if it is missing."""
        try:
            found: T = self._local.__dict__[name]
        except KeyError:
            found = self._local.__dict__[name] = make()
        return found

    def place(self, data: pin.Data) -> pin.GeometryData:
        """Place all items for the joint placements in `data`; return the thread's GeometryData."""
        own = self.data
        pin.updateGeometryPlacements(self.robot.model, data, self.model, own)
        return own

    @cached_property
    def moves(self) -> Array:
        """Sign (k, n): 1 if a column of `data.J` moves only the second item, -1 only the first."""
        carrying = np.array([columns_carrying(self.robot, item.joint) for item in self.items])
        carrying = carrying.reshape(len(self.items), self.robot.model.nvExtended)
        moves: Array = carrying[self.pairs[:, 1]] - carrying[self.pairs[:, 0]]
        return moves

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        return [(self.items[i].name, self.items[j].name) for i, j in self.pairs.tolist()]


def _enter(model: pin.GeometryModel, items: Sequence[CollisionGeometry], chosen: Mask) -> Indices:
    """Add and return the pairs, octrees first: coal 3.0 would swap the items otherwise."""
    trees = [i for i, item in enumerate(items) if isinstance(item.geometry, coal.OcTree)]
    swapped = [(tree, int(first)) for tree in trees for first in np.flatnonzero(chosen[:, tree])]
    others = chosen.copy()
    others[:, trees] = False
    model.setCollisionPairs(others)
    for pair in swapped:
        model.addCollisionPair(pin.CollisionPair(*pair))
    pairs: Indices = np.concatenate([np.argwhere(others),
                                     np.array(swapped, dtype=np.intp).reshape(-1, 2)])
    return pairs


@lru_cache(maxsize=4)     # copying requests into data is faster than making them
def _requests(count: int) -> 'tuple[coal.StdVec_CollisionRequest, coal.StdVec_DistanceRequest]':
    """
    Return collision and distance requests for `count` pairs, with reproducible results.

    Without contacts enabled coal 3.0 misses some deep overlaps. With its default tolerances
    distances of round shapes are off by up to 5e-4 m. With its cached guess results would depend
    on the previous query.
    """
    # the requests and the types of their vectors are those of a small model
    model = pin.GeometryModel()
    for name in 'ab':
        ball = coal.Capsule(1, 1)
        model.addGeometryObject(pin.GeometryObject(name, 0, pin.SE3.Identity(), ball))
    model.addCollisionPair(pin.CollisionPair(0, 1))
    data = model.createData()
    collision, distance = data.collisionRequests[0], data.distanceRequests[0]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')      # coal deprecates the names without replacement
        collision.enable_contact, collision.enable_cached_gjk_guess = True, False
        distance.enable_cached_gjk_guess = False
    distance.gjk_tolerance, distance.epa_max_iterations = 1e-8, 255
    requests = type(data.collisionRequests)(), type(data.distanceRequests)()
    requests[0].extend([collision] * count)
    requests[1].extend([distance] * count)
    return requests
