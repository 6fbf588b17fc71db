"""What a robot looks like at joint values."""

from typing import Any

from ros2_ik.core import Array, Configuration, Robot, visual_geometry
from ros2_ik.view.surface import shape_surface, Surface

USUAL = (0.82, 0.83, 0.85)    # of what has no colour of its own


class RobotModel:
    """
    The surfaces of a robot in their own colours, and where they are.

    `notes` say what is drawn in place of what is missing.
    """

    def __init__(self, robot: Robot) -> None:
        geometry = visual_geometry(robot)
        self.robot, self.notes = robot, geometry.warnings
        self.surfaces: tuple[Surface, ...] = tuple(
            shape_surface(body.shape, body.color or USUAL) for body in geometry.bodies)
        self._places = tuple((body.link, body.in_link) for body in geometry.bodies)

    def poses(self, q: Array) -> list[Any]:
        """Return where each surface is at q (nq,) in the root frame, pinocchio.SE3."""
        at = Configuration(self.robot, q)
        links = {link: at.placement(link) for link, _ in self._places}
        return [links[link] * in_link for link, in_link in self._places]
