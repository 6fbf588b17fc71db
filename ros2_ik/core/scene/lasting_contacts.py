"""What touches whatever the joints do, as none of them moves one relative to the other."""

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices, Mask
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.collision_geometry import CollisionGeometry
from ros2_ik.core.scene.contact_check import ContactCheck, TOLERANCE
from ros2_ik.core.scene.pair_bounds import PairBounds
from ros2_ik.core.scene.pair_model import geometries_model, PairModel

Names = tuple[str, str]


def lasting_contacts(robot: Robot, items: Sequence[CollisionGeometry], chosen: Mask,
                     margins_of: Callable[[Sequence[Names]], Array]) -> tuple[Names, ...]:
    """
    Return the names of items that touch, of the `chosen` pairs of items on one joint, (i, i).

    `margins_of` names gives how much nearer than they are these pairs count.
    """
    used, pairs = _used(items, np.argwhere(chosen))
    if not len(pairs):
        return ()
    margins = margins_of([(used[i].name, used[j].name) for i, j in pairs.tolist()])
    together = [pin.SE3.Identity()] * robot.model.njoints
    near = PairBounds(used, pairs).at(together) <= margins + 2 * TOLERANCE
    used, pairs = _used(used, pairs[near])
    model = PairModel(robot, geometries_model(used), used, pairs)
    model.margins = margins[near]
    touching = ContactCheck(model, pairs).touching(robot.neutral)
    return tuple(dict.fromkeys(model.names[k] for k in touching))


def _used(items: Sequence[CollisionGeometry], pairs: Indices
          ) -> tuple[list[CollisionGeometry], Indices]:
    """Return only the items that pairs (k, 2) are of, and these pairs' numbers among them."""
    used, numbers = np.unique(pairs, return_inverse=True)
    return [items[i] for i in used.tolist()], numbers.reshape(-1, 2)
