"""The surfaces of a robot, and the poses of its links in a configuration."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Configuration, Robot
from ros2_ik.core.internals import visual_geometry
from ros2_ik.view.surface import shape_surface, Surface

DEFAULT_COLOR = (0.82, 0.83, 0.85)    # of links without a colour (red, green, blue)
TO_CAMERA = (0.95, -0.8, 0.45)        # default direction from the robot to the camera


class LinkSurface(NamedTuple):
    """A surface of a link, and its pose in the link frame."""

    link: str
    surface: Surface
    in_link: pin.SE3


class RobotModel:
    """
    The visual surfaces of a robot, and the poses of its links.

    `notes` are texts about missing geometry and its replacements.
    """

    def __init__(self, robot: Robot) -> None:
        geometry = visual_geometry(robot)
        self.robot, self.notes = robot, geometry.warnings
        self.surfaces = tuple(
            LinkSurface(body.link, shape_surface(body.shape, body.color or DEFAULT_COLOR),
                        body.in_link) for body in geometry.bodies)
        self.links = geometry.links

    def poses(self, q: Array) -> dict[str, pin.SE3]:
        """Return the poses of the links at q (nq,) in the root frame, by name."""
        at = Configuration(self.robot, q)
        return {link: at.placement(link) for link in self.links}


def extent(robot: Robot, q: Array) -> tuple[Array, float]:
    """Return centre (3,) and diagonal [m] of the box around all frames of a robot at q (nq,)."""
    # origins of frames, not meshes: fast, and known without geometry
    at = Configuration(robot, q)
    points = np.array([at.transform(frame)[:3, 3] for frame in robot.frame_names])
    return (points.min(axis=0) + points.max(axis=0)) / 2, max(
        float(np.linalg.norm(np.ptp(points, axis=0))), 0.1)
