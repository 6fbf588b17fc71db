"""Distances of a checker's pairs along a path."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.collision.collision_checker import CollisionChecker
from ros2_ik.core.collision.contacts import Distances
from ros2_ik.core.collision.distance_check import DistanceCheck
from ros2_ik.core.collision.near_pairs import PairsAt
from ros2_ik.core.errors import UnknownObjectError


class DistanceTracker:
    """
    Follows the pairs of a checker from configuration to configuration.

    A distance shrinks by no more than both sides have moved: it is computed again only once that
    may have brought the pair near. `here` are the bounds where the last `go` led, `ahead`
    where `look_ahead` looked from there.
    """

    here: PairsAt
    ahead: PairsAt

    def __init__(self, checker: CollisionChecker) -> None:
        self._checker = checker
        self._nearness: DistanceCheck | None = None
        self._moved: dict[str, Array] | None = None  # poses (4, 4) of moved objects
        self._has_moved = False                      # since the last `go`

    def go(self, q: Array) -> bool:
        """Move to q (nq,); return whether the pairs are others than before."""
        nearness, has_moved = self._checker.nearness, self._has_moved
        self._has_moved = False
        if nearness is not self._nearness:    # also when parts of meshes were made since
            self._nearness = nearness
            if self._moved:
                nearness.move([*self._moved], np.array([*self._moved.values()]),
                              self._checker.scene.objects)
            self.here = nearness.near_pairs.follow(q)
            return True
        if has_moved or not np.array_equal(q, self.here.q):
            self.here = nearness.near_pairs.follow(q, self.here)
        return False

    def move(self, names: Sequence[str], T: Array) -> None:
        """
        Put objects of the scene at poses (k, 4, 4), in a checker of this tracker alone.

        Raises UnknownObjectError, and then moves nothing.
        """
        objects = self._checker.scene.objects
        for name in names:
            if name not in objects:
                raise UnknownObjectError(name, tuple(objects))
        if self._moved is None:
            self._moved, self._checker, self._nearness = {}, self._checker.copied(), None
        self._moved.update(zip(names, T, strict=True))
        self._has_moved = True
        if self._nearness is not None:
            self._nearness.move(names, T, objects)

    def look_ahead(self, q: Array) -> PairsAt:
        """Return the bounds at q (nq,), from those here."""
        self.ahead = self.nearness.near_pairs.follow(q, self.here)
        return self.ahead

    def arrive(self) -> None:
        """Move to where `look_ahead` looked last."""
        self.here = self.ahead

    def distances(self, at: PairsAt, reach: Array, most: int) -> Distances:
        """Return the distances less than `reach` (p,) [m] of the pairs, the nearest `most`."""
        robot = self._checker.robot
        data = robot.scratch_data()
        pin.computeJointJacobians(robot.model, data, at.q)
        return self.nearness.distances(data, at, reach, most)

    @property
    def nearness(self) -> DistanceCheck:
        if self._nearness is None:
            raise RuntimeError('go somewhere first')
        return self._nearness
