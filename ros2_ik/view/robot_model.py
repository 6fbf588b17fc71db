"""The surfaces of a robot, and their poses at joint values."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Configuration, Robot
from ros2_ik.core.internals import visual_geometry
from ros2_ik.view.surface import shape_surface, Surface

USUAL = (0.82, 0.83, 0.85)    # colour of links without one
BACK = (0.95, -0.8, 0.45)      # direction from the robot to the camera


class LinkSurface(NamedTuple):
    """A surface on a link, and its pose in the link's frame."""

    link: str
    surface: Surface
    in_link: pin.SE3


class RobotModel:
    """
    The surfaces of a robot in their own colours, and the poses of its links.

    `notes` name missing geometry and what is drawn instead.
    """

    def __init__(self, robot: Robot) -> None:
        geometry = visual_geometry(robot)
        self.robot, self.notes = robot, geometry.warnings
        self.surfaces = tuple(
            LinkSurface(body.link, shape_surface(body.shape, body.color or USUAL), body.in_link)
            for body in geometry.bodies)
        self.links = geometry.links

    def poses(self, q: Array) -> dict[str, pin.SE3]:
        """Return the poses of the links at q (nq,) in the root frame, by name."""
        at = Configuration(self.robot, q)
        return {link: at.placement(link) for link in self.links}


def extent(robot: Robot, q: Array) -> tuple[Array, float]:
    """Return the middle (3,) and the size [m] of a robot at q (nq,)."""
    at = Configuration(robot, q)
    points = np.array([at.transform(frame)[:3, 3] for frame in robot.frame_names])
    return (points.min(axis=0) + points.max(axis=0)) / 2, max(
        float(np.linalg.norm(np.ptp(points, axis=0))), 0.1)
