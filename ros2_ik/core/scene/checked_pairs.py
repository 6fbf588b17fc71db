"""The pieces that a collision checker looks at, and which of them against which."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core.arrays import Mask
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.robot_geometry import RobotGeometry
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_object import Part
from ros2_ik.core.scene.self_pairs import DISABLED, self_pairs


class Item(NamedTuple):
    """A convex piece of a link or an object, on one of Pinocchio's joints (0: the root)."""

    name: str
    joint: int
    placement: Any
    geometry: Any


@lru_cache(maxsize=8)
def own_items(robot: Robot, geometry: RobotGeometry) -> tuple[Item, ...]:
    """Give the pieces of the robot's links."""
    return tuple(Item(body.link, body.joint, body.placement, part)
                 for body in geometry.bodies for part in body.shape.parts())


def surroundings(robot: Robot, scene: Scene) -> Iterator[Item]:
    """Give the pieces of the objects in the world, then of the attached ones."""
    for thing in scene.objects.values():
        yield from _pieces(thing.id, 0, thing.pose, thing.parts)
    model = robot.model
    for attached in scene.attached.values():
        frame = model.frames[robot.frame_id(attached.link)]
        yield from _pieces(attached.id, int(frame.parentJoint),
                           frame.placement * attached.object.pose, attached.object.parts)


def _pieces(name: str, joint: int, placement: Any, parts: tuple[Part, ...]) -> Iterator[Item]:
    for part in parts:
        for geometry in part.shape.parts():
            yield Item(name, joint, placement * part.pose, geometry)


def pairs_to_check(robot: Robot, scene: Scene, geometry: RobotGeometry,
                   items: Sequence[Item]) -> Mask:
    """
    Say which item is checked against which one after it, (i, i).

    `items` are the robot's own, followed by its surroundings.
    """
    own, links = len(own_items(robot, geometry)), geometry.links
    chosen = np.zeros((len(items), len(items)), dtype=bool)
    chosen[:own, :own] = _own_pairs(robot, scene, geometry)
    joints = np.array([item.joint for item in items])
    link_of = np.array([links.index(item.name) for item in items[:own]], dtype=np.intp)
    checked: dict[str, Mask] = {}
    for second in range(own, len(items)):
        item = items[second]
        if item.name not in checked:
            checked[item.name] = np.array([not _may_touch(scene, link, item.name)
                                           for link in links], dtype=bool)
        chosen[:own, second] = checked[item.name][link_of] & (joints[:own] != item.joint)
        for first in range(own, second) if scene.attached else ():
            chosen[first, second] = (joints[first] != item.joint
                                     and not _may_touch(scene, items[first].name, item.name))
    return chosen


def _own_pairs(robot: Robot, scene: Scene, geometry: RobotGeometry) -> Mask:
    """Do that for the robot's own items; kept while the scene's matrix stays the same."""
    key = (robot.key, geometry.key)
    known = _own_chosen.get(key)
    if known is None or known[0] is not scene.allowed:
        allowed, items = _allowed_links(robot, scene, geometry), own_items(robot, geometry)
        chosen = np.zeros((len(items), len(items)), dtype=bool)
        for second, item in enumerate(items):
            for first, other in enumerate(items[:second]):
                names = (min(other.name, item.name), max(other.name, item.name))
                chosen[first, second] = other.joint != item.joint and names not in allowed
        known = _own_chosen[key] = scene.allowed, chosen
        while len(_own_chosen) > _KEPT:
            del _own_chosen[next(iter(_own_chosen))]
    return known[1]


def _allowed_links(robot: Robot, scene: Scene,
                   geometry: RobotGeometry) -> set[tuple[str, str]]:
    """Pairs of links that may touch; a matrix of the scene's stands above the SRDF."""
    found = self_pairs(robot, geometry)
    disabled = {pair for pair, reason in found.allowed.items() if reason == DISABLED}
    return (found.allowed.keys() - disabled) | {
        pair for pair in found.checked | disabled if scene.allowed.allowed(*pair)}


def _may_touch(scene: Scene, one: str, other: str) -> bool:
    if scene.allowed.allowed(one, other):
        return True
    for name, against in ((one, other), (other, one)):
        held = scene.attached.get(name)
        if held is not None and held.may_touch(scene.attached.get(against, against)):
            return True
    return False


_KEPT = 8
_own_chosen: dict[tuple[str, str], tuple[Any, Mask]] = {}
