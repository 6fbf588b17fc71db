"""The collision geometries of objects, and the pairs of geometries that are checked."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ros2_ik.core.arrays import Mask
from ros2_ik.core.collision.collision_geometry import CollisionGeometry, on_joint, shape_items
from ros2_ik.core.collision.self_pairs import DISABLED, self_pairs
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.robot_geometry import RobotGeometry
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_object import ShapeInstance

if TYPE_CHECKING:
    import pinocchio as pin


def world_geometries(robot: Robot, scene: Scene) -> Iterator[CollisionGeometry]:
    """Yield the geometries of the world's objects, then those of attached objects."""
    for thing in scene.objects.values():
        yield from _pieces(thing.id, 0, thing.pose, thing.parts)
    for held in scene.attached.values():
        yield from _pieces(held.id, *on_joint(robot, held.link, held.object.pose),
                           held.object.parts)


def _pieces(name: str, joint: int, placement: 'pin.SE3', parts: tuple[ShapeInstance, ...]
            ) -> Iterator[CollisionGeometry]:
    for part in parts:
        yield from shape_items(name, joint, placement * part.pose, part.shape)


def pairs_to_check(robot: Robot, scene: Scene, geometry: RobotGeometry,
                   items: Sequence[CollisionGeometry]) -> Mask:
    """
    Return the mask (i, i), above the diagonal, of the pairs of items that are checked.

    `items` are the geometries of the robot's links, then those of objects.
    """
    # a matrix by name of links and objects
    links = set(geometry.links)
    number_of = {name: number for number, name in enumerate(
        dict.fromkeys(item.name for item in items))}
    checked = np.zeros((len(number_of), len(number_of)), dtype=bool)
    for pair in _link_pairs(robot, scene, geometry):
        one, other = (number_of[name] for name in pair)
        checked[one, other] = checked[other, one] = True
    # objects of the world are checked against links, attached objects against links and objects
    for name in number_of.keys() - links:
        others = [*number_of] if name in scene.attached else geometry.links
        checked[[number_of[other] for other in others], number_of[name]] = [
            not _may_touch(scene, other, name) for other in others]
    # a matrix by item, without the pairs of items on one joint
    numbers = np.array([number_of[item.name] for item in items], dtype=np.intp)
    joints = np.array([item.joint for item in items], dtype=np.intp)
    return np.triu(checked[np.ix_(numbers, numbers)] & (joints[:, None] != joints), 1)


def _link_pairs(robot: Robot, scene: Scene, geometry: RobotGeometry) -> list[tuple[str, str]]:
    """Return the checked pairs of links; the scene's allowed collisions override the SRDF."""
    found = self_pairs(robot, geometry, scene.guess_pairs)
    disabled = {pair for pair, reason in found.allowed.items() if reason == DISABLED}
    return [pair for pair in found.checked | disabled if not scene.allowed.allowed(*pair)]


def _may_touch(scene: Scene, one: str, other: str) -> bool:
    if scene.allowed.allowed(one, other):
        return True
    for name, against in ((one, other), (other, one)):
        held = scene.attached.get(name)
        if held is not None and held.may_touch(scene.attached.get(against, against)):
            return True
    return False
