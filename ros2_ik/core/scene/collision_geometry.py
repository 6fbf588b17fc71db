"""What collision checks place in space: convex parts of links and objects."""

from functools import lru_cache
from typing import Any, NamedTuple

from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.robot_geometry import RobotGeometry
from ros2_ik.core.scene.triangle_solid import TriangleSolid


class CollisionGeometry(NamedTuple):
    """
    A convex part of a link or an object, on one of Pinocchio's joints (0: the root).

    Where `solid` is not None, `geometry` is the hull of that.
    """

    name: str
    joint: int
    placement: Any
    geometry: Any
    solid: TriangleSolid | None = None


@lru_cache(maxsize=8)
def own_geometries(robot: Robot, geometry: RobotGeometry) -> tuple[CollisionGeometry, ...]:
    """Return the pieces of the robot's links."""
    return tuple(CollisionGeometry(body.link, body.joint, body.placement, *part)
                 for body in geometry.bodies for part in body.shape.checked_parts())
