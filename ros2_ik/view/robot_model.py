"""What a robot looks like at joint values."""

from typing import Any, NamedTuple

from ros2_ik.core import Array, Configuration, Robot, visual_geometry
from ros2_ik.view.surface import shape_surface, Surface

USUAL = (0.82, 0.83, 0.85)    # of what has no colour of its own


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
