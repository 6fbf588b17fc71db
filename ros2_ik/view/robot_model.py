"""What a robot looks like at joint values."""

from typing import Any, NamedTuple

import numpy as np

from ros2_ik.core import Array, Configuration, Robot, visual_geometry
from ros2_ik.view.surface import shape_surface, Surface

USUAL = (0.82, 0.83, 0.85)    # of what has no colour of its own
BACK = (0.95, -0.8, 0.45)      # from what is looked at to who looks, as multiples of its size


class LinkSurface(NamedTuple):
    """A surface on a link, and where it is in the link's frame, pinocchio.SE3."""

    link: str
    surface: Surface
    in_link: Any


class RobotModel:
    """
    The surfaces of a robot in their own colours, and where its links are.

    `notes` say what is drawn in place of what is missing.
    """

    def __init__(self, robot: Robot) -> None:
        geometry = visual_geometry(robot)
        self.robot, self.notes = robot, geometry.warnings
        self.surfaces = tuple(
            LinkSurface(body.link, shape_surface(body.shape, body.color or USUAL), body.in_link)
            for body in geometry.bodies)
        self.links = geometry.links

    def poses(self, q: Array) -> dict[str, Any]:
        """Return where each link is at q (nq,) in the root frame, pinocchio.SE3 by name."""
        at = Configuration(self.robot, q)
        return {link: at.placement(link) for link in self.links}


def extent(robot: Robot, q: Array) -> tuple[Array, float]:
    """Return the middle of a robot at q (nq,), (3,), and how large it is [m]."""
    at = Configuration(robot, q)
    points = np.array([at.transform(frame)[:3, 3] for frame in robot.frame_names])
    return (points.min(axis=0) + points.max(axis=0)) / 2, max(
        float(np.linalg.norm(np.ptp(points, axis=0))), 0.1)
