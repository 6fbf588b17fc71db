"""Checked pairs of collision geometries in a Pinocchio model, with data for each thread."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
import threading

import coal
import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.collision.collision_geometry import CollisionGeometry
from ros2_ik.core.robot import Robot


class PairModel:
    """
    The collision geometries (`items`) of a check, and the `pairs` (k, 2) of indices to check.

    `pair_mask` is the mask (i, i) of these pairs, above the diagonal. `margins` (k,) are paddings
    [m] that are subtracted from distances. `model` is Pinocchio's geometry model, read-only;
    `data` belongs to the calling thread and holds the results of its last computation.
    """

    def __init__(self, robot: Robot, items: Sequence[CollisionGeometry], pair_mask: Mask) -> None:
        self.robot, self.items, self.pair_mask = robot, items, pair_mask
        self.model = _model_of(items)
        self.pairs = _add_pairs(self.model, items, pair_mask)
        self.margins = np.zeros(len(self.pairs))
        self._local = threading.local()

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def data(self) -> pin.GeometryData:
        """Pinocchio's GeometryData of the calling thread."""
        if (data := getattr(self._local, 'data', None)) is None:
            data = self._local.data = self.model.createData()
            # padding is coal's `security_margin`
            data.collisionRequests = _collision_requests(len(self.pairs))
            for k in np.flatnonzero(self.margins).tolist():
                data.collisionRequests[k].security_margin = float(self.margins[k])
        return data

    @property
    def distance_results(self) -> 'list[coal.DistanceResult]':
        """Pinocchio's distance results of the calling thread, one for each pair."""
        if (found := getattr(self._local, 'results', None)) is None:
            # a list, because indexing Pinocchio's vector for each pair would take longer
            found = self._local.results = list(self.data.distanceResults)
        return found

    def place(self, data: pin.Data) -> pin.GeometryData:
        """Place all items at the joint placements in `data`; return the thread's GeometryData."""
        own = self.data
        pin.updateGeometryPlacements(self.robot.model, data, self.model, own)
        return own

    @cached_property
    def moves(self) -> Array:
        """Signs (k, n): 1 if a pin.Data.J column moves only a pair's item 2, -1: only item 1."""
        carrying = np.array([columns_carrying(self.robot, item.joint) for item in self.items])
        carrying = carrying.reshape(len(self.items), self.robot.model.nvExtended)
        moves: Array = carrying[self.pairs[:, 1]] - carrying[self.pairs[:, 0]]
        return moves

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        return [(self.items[i].name, self.items[j].name) for i, j in self.pairs.tolist()]


def _model_of(items: Sequence[CollisionGeometry]) -> pin.GeometryModel:
    """Return a geometry model of these items, without collision pairs."""
    # slow for many objects (100: 0.3 ms, 1200: 0.1 s): each addition copies a table of all pairs
    model = pin.GeometryModel()
    for index, item in enumerate(items):
        model.addGeometryObject(pin.GeometryObject(
            f'{index} {item.name}', item.joint, item.placement, item.geometry))
    return model


def _add_pairs(model: pin.GeometryModel, items: Sequence[CollisionGeometry],
               pair_mask: Mask) -> Indices:
    """Add and return the pairs, an octree first in its pair: coal 3.0 swaps results otherwise."""
    trees = [i for i, item in enumerate(items) if isinstance(item.geometry, coal.OcTree)]
    swapped = [(tree, int(one)) for tree in trees for one in np.flatnonzero(pair_mask[:, tree])]
    others = pair_mask.copy()
    others[:, trees] = False
    model.setCollisionPairs(others)
    for pair in swapped:
        model.addCollisionPair(pin.CollisionPair(*pair))
    pairs: Indices = np.concatenate([np.argwhere(others),
                                     np.array(swapped, dtype=np.intp).reshape(-1, 2)])
    return pairs


@lru_cache(maxsize=4)     # requests are copied into each data: faster than creating them
def _collision_requests(count: int) -> 'coal.StdVec_CollisionRequest':
    """
    Return collision requests for `count` pairs.

    Pinocchio's own requests ask for no contacts, and coal 3.0 then misses some deep overlaps.
    """
    requests = coal.StdVec_CollisionRequest()
    requests.extend([coal.CollisionRequest()] * count)
    return requests


def _distance_request() -> coal.DistanceRequest:
    """
    Return a distance request with a fixed initial guess, which makes results reproducible.

    Without a guess in the request, coal 3.0 starts at the vertices where the previous query ended,
    which changes distances in their last digits, and normals by up to 1e-4. With coal's default
    tolerances, distances of round shapes are off by up to 5e-4 m.
    """
    request = coal.DistanceRequest()
    request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
    request.gjk_tolerance, request.epa_max_iterations = 1e-8, 255
    return request


# each query overwrites the guess in its request: assign this request before each query
DISTANCE_REQUEST = _distance_request()


@lru_cache(maxsize=1024)
def columns_carrying(robot: Robot, joint: int) -> Array:
    """
    Return a mask (n,): 1 for columns of `data.J` that move the body of a Pinocchio joint.

    In Pinocchio's `data.J` mimic joints have their own columns.
    """
    model = robot.model
    mask = np.zeros(model.nvExtended)
    for index in set(model.supports[joint]) - {0}:
        above = model.joints[index]
        mask[above.idx_vExtended:above.idx_vExtended + above.nvExtended] = 1.0
    mask.setflags(write=False)
    return mask


@lru_cache(maxsize=64)
def follower_reduction(robot: Robot) -> Array | None:
    """Return the matrix (n, nv) that adds mimic columns to leader columns; None without mimics."""
    model = robot.model
    if model.nvExtended == robot.nv:
        return None
    reduction = np.zeros((model.nvExtended, robot.nv))
    for joint in list(model.joints)[1:]:
        for k in range(joint.nvExtended):
            reduction[joint.idx_vExtended + k, joint.idx_v + k] = 1.0
    reduction.setflags(write=False)
    return reduction
