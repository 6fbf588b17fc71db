"""The distances of a checker's pairs along a way."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import UnknownObjectError
from ros2_ik.core.scene.collision_checker import CollisionChecker
from ros2_ik.core.scene.contacts import Distances
from ros2_ik.core.scene.distance_check import DistanceCheck
from ros2_ik.core.scene.near_pairs import PairsAt


class PairWatch:
    """
    Looks at the pairs of a checker from configuration to configuration.

    How far a pair is apart is computed anew only once it may have come near since: nothing of
    what moved is nearer than it was less the ways of both. `here` is what is known where the last
    `go` led, `ahead` where `look_ahead` looked from there.
    """

    here: PairsAt
    ahead: PairsAt

    def __init__(self, checker: CollisionChecker) -> None:
        self._checker = checker
        self._nearness: DistanceCheck | None = None
        self._moved: dict[str, Any] | None = None   # by how much objects are moved, if they are
        self._has_moved = False                     # since the last `go`
        self._inverses: dict[str, Any] = {}         # of the poses that objects were made with

    def go(self, q: Array) -> bool:
        """Move to q (nq,); return whether the pairs are others than before."""
        nearness, has_moved = self._checker.nearness, self._has_moved
        self._has_moved = False
        if nearness is not self._nearness:    # also when parts of meshes were made since
            self._nearness = nearness
            for name, change in (self._moved or {}).items():
                nearness.move(name, change)
            self.here = nearness.near_pairs.follow(q, None)
            return True
        if has_moved or not np.array_equal(q, self.here.q):
            self.here = nearness.near_pairs.follow(q, self.here)
        return False

    def move(self, poses: Mapping[str, Any]) -> None:
        """
        Put objects of the scene elsewhere (SE3, by name), in a checker of this watch alone.

        Raises UnknownObjectError, and then moves nothing.
        """
        objects = self._checker.scene.objects
        for name in poses:
            if name not in objects:
                raise UnknownObjectError(name, tuple(objects))
        if self._moved is None:
            self._moved, self._checker = {}, self._checker.copied()
            self._nearness = None
        self._has_moved = True
        for name, pose in poses.items():
            self._moved[name] = change = pose * self._inverse(name)
            if self._nearness is not None:
                self._nearness.move(name, change)

    def _inverse(self, name: str) -> Any:
        if name not in self._inverses:
            self._inverses[name] = self._checker.scene.objects[name].pose.inverse()
        return self._inverses[name]

    def look_ahead(self, q: Array) -> PairsAt:
        """Return what is known at q (nq,), from what is known here."""
        self.ahead = self.nearness.near_pairs.follow(q, self.here)
        return self.ahead

    def arrive(self) -> None:
        """Be where `look_ahead` looked last."""
        self.here = self.ahead

    def distances(self, at: PairsAt, reach: Array, most: int) -> Distances:
        """Return the distances less than `reach` (p,) [m] of the pairs, the nearest `most`."""
        robot = self._checker.robot
        data = robot.scratch_data()
        pin.computeJointJacobians(robot.model, data, at.q)
        return self.nearness.look(data, at, reach, most)

    @property
    def nearness(self) -> DistanceCheck:
        if self._nearness is None:
            raise RuntimeError('go somewhere first')
        return self._nearness
