"""Collision geometries of links and objects."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TYPE_CHECKING

import coal
import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.robot_geometry import RobotGeometry
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.shapes import Mesh, Shape

if TYPE_CHECKING:
    import pinocchio as pin


class CollisionGeometry(NamedTuple):
    """
    A collision geometry of a link or an object, fixed to one of Pinocchio's joints (0: the root).

    `placement` is relative to that joint. For an exact mesh, `geometry` is the convex hull of
    `mesh`. For a part of a world object, `in_object` is the part's pose (4, 4) in the object.
    """

    name: str
    joint: int
    placement: 'pin.SE3'
    geometry: 'coal.CollisionGeometry'
    mesh: Mesh | None = None
    in_object: Array | None = None

    @property
    def body_points(self) -> Array:
        """Points (k, n, 3) of k connected bodies; the first point of each is in or on the body."""
        if self.mesh is not None:
            return self.mesh.extremes
        # an octree: the centres of its cells
        if isinstance(self.geometry, coal.OcTree):
            return np.array([[box[:3]] for box in self.geometry.toBoxes()])
        if isinstance(self.geometry, coal.ConvexBase):
            points: Array = np.reshape(self.geometry.points(), (1, -1, 3))
            return np.asarray(points.mean(axis=1, keepdims=True))
        return np.zeros((1, 1, 3))      # primitives are centred


def _geometry_of(name: str, joint: int, placement: 'pin.SE3', shape: Shape) -> CollisionGeometry:
    if isinstance(shape, Mesh) and shape.detail == 'exact':
        return CollisionGeometry(name, joint, placement, shape.hull.geometry, shape)
    shape.geometry.computeLocalAABB()
    return CollisionGeometry(name, joint, placement, shape.geometry)


@lru_cache(maxsize=8)
def link_geometries(robot: Robot, geometry: RobotGeometry) -> tuple[CollisionGeometry, ...]:
    """Return the collision geometries of the robot's links."""
    return tuple(_geometry_of(body.link, *_on_joint(robot, body.link, body.in_link), body.shape)
                 for body in geometry.bodies)


def world_geometries(robot: Robot, scene: Scene) -> Iterator[CollisionGeometry]:
    """Yield the collision geometries of the world's objects, then those of attached objects."""
    for item in scene.objects.values():
        for part in item.parts:
            yield _geometry_of(item.id, 0, item.pose * part.pose, part.shape)._replace(
                in_object=part.pose.homogeneous)
    for held in scene.attached.values():
        joint, placement = _on_joint(robot, held.link, held.object.pose)
        for part in held.object.parts:
            yield _geometry_of(held.object.id, joint, placement * part.pose, part.shape)


def _on_joint(robot: Robot, link: str, in_link: 'pin.SE3') -> 'tuple[int, pin.SE3]':
    """Return the Pinocchio joint (0: root) of a link, and pose `in_link` relative to the joint."""
    frame = robot.model.frames[robot.frame_id(link)]
    return int(frame.parentJoint), frame.placement * in_link
