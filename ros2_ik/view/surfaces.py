"""Surfaces of robots and of the objects of a scene, with their colours and poses."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import trimesh

from ros2_ik.core import Array, Configuration, Contact, Robot, Scene, SceneObject, Shape
from ros2_ik.core.internals import Indices, visual_geometry

CREASE = 0.7     # angle between faces above which their common edge is shaded as sharp [rad]
LINK_COLOR = (0.82, 0.83, 0.85)       # default colour of links (red, green, blue)
CONTACT_OPACITY = 0.45                # opacity of an object in contact
CONTACT_COLOR = (0.9, 0.08, 0.08)     # colour of the ball that marks a contact
CONTACT_RADIUS = 0.015                # radius of the ball that marks a contact [m]
MAX_CONTACTS = 8                      # largest number of contacts shown
TO_CAMERA = (0.95, -0.8, 0.45)        # default direction from the robot to the camera
Color = tuple[float, ...]             # red, green, blue in [0, 1]


class Surface(NamedTuple):
    """
    Triangles of one colour: `vertices` (n, 3) [m], `faces` (m, 3).

    At a sharp edge the vertices exist twice, once for each side, so that normals differ.
    """

    vertices: Array
    faces: Indices
    color: Color
    opacity: float = 1.0


def shape_surface(shape: Shape, color: Color, opacity: float = 1.0) -> Surface:
    """Return the surface of a shape in the shape's frame; unbounded shapes are cut."""
    mesh = trimesh.graph.smooth_shade(trimesh.Trimesh(*shape.surface(), process=False),
                                      angle=CREASE, facet_minarea=None)
    return Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), color, opacity)


class RobotModel:
    """
    The visual surfaces of a robot, and the poses of its links.

    `surfaces` are tuples of a link's name, a surface, and the surface's pose in the link frame.
    `notes` are texts about missing geometry.
    """

    def __init__(self, robot: Robot) -> None:
        geometry = visual_geometry(robot)
        self.robot, self.notes = robot, geometry.warnings
        self.surfaces = [
            (body.link, shape_surface(body.shape, body.color or LINK_COLOR), body.in_link)
            for body in geometry.bodies]
        self.links = geometry.links

    def poses(self, q: Array) -> dict[str, pin.SE3]:
        """Return the poses of the links at q (nq,) in the root frame, by name."""
        at = Configuration(self.robot, q)
        return {link: at.placement(link) for link in self.links}


def extent(robot: Robot, q: Array) -> tuple[Array, float]:
    """Return centre (3,) and diagonal (>= 0.1 m) of the box around a robot's frames at q (nq,)."""
    # origins of frames instead of meshes: fast, and available without geometry
    at = Configuration(robot, q)
    points = np.array([at.transform(frame)[:3, 3] for frame in robot.frame_names])
    return (points.min(axis=0) + points.max(axis=0)) / 2, max(
        float(np.linalg.norm(np.ptp(points, axis=0))), 0.1)


def drawn_object(item: SceneObject, color: Color) -> list[tuple[Surface, pin.SE3]]:
    """Return the surfaces of an object in `color` (with alpha), with poses in the object frame."""
    r, g, b, opacity = color
    return [(shape_surface(part.shape, (r, g, b), opacity), part.pose) for part in item.parts]


def placed_objects(scene: Scene, q: Array) -> Iterator[tuple[SceneObject, pin.SE3, Color]]:
    """Yield objects, their poses in the root frame at q (nq,), and their colours with alpha."""
    for item in scene.objects.values():
        yield item, item.pose, item.drawn_color()
    at = Configuration(scene.robot, q)
    for body in scene.attached.values():
        item = body.object
        yield item, at.placement(body.link) * item.pose, item.drawn_color(attached=True)


def touched_names(contacts: Sequence[Contact]) -> set[str]:
    """Return the names of all bodies in contact."""
    return {name for one in contacts for name in (one.first, one.second)}


def contact_text(contact: Contact) -> str:
    """Return a text with the names of the bodies in contact and the depth."""
    return f'{contact.first} - {contact.second}: {1e3 * contact.depth:.1f} mm'
