"""Colours, surfaces and texts of the objects and contacts of a scene."""

from collections.abc import Iterator, Sequence

import pinocchio as pin

from ros2_ik.core import Array, Configuration, Contact, Scene, SceneObject
from ros2_ik.view.surface import Color, shape_surface, Surface

WORLD, ATTACHED = (0.55, 0.6, 0.55), (0.65, 0.4, 0.75)    # of objects without a colour
TOUCHED = 0.45                      # opacity of an object in contact
MOST_CONTACTS = 8                   # that are shown
CONTACT_RADIUS = 0.015              # of the ball at a contact [m]
CONTACT = (0.9, 0.08, 0.08)         # its colour


def drawn_object(item: SceneObject, usual: Color = WORLD) -> list[tuple[Surface, pin.SE3]]:
    """
    Return the surfaces of an object, each with its pose in the object.

    `usual` is its colour where it has none.
    """
    r, g, b, opacity = item.color if item.color and item.color[3] > 0 else (*usual, 1.0)
    return [(shape_surface(part.shape, (r, g, b), opacity), part.pose) for part in item.parts]


def placed_objects(scene: Scene, q: Array) -> Iterator[tuple[SceneObject, pin.SE3, Color]]:
    """Yield the objects, their poses with the robot at q (nq,), and their usual colours."""
    for item in scene.objects.values():
        yield item, item.pose, WORLD
    at = Configuration(scene.robot, q)
    for held in scene.attached.values():
        yield held.object, at.placement(held.link) * held.object.pose, ATTACHED


def touched_names(contacts: Sequence[Contact]) -> set[str]:
    """Return the names of the bodies in contact."""
    return {name for one in contacts for name in (one.first, one.second)}


def contact_text(contact: Contact) -> str:
    """Return the names of the bodies in contact, and the depth."""
    return f'{contact.first} - {contact.second}: {1e3 * contact.depth:.1f} mm'
