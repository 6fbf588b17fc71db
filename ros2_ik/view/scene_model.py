"""Colours, surfaces and texts for the objects and contacts of a scene."""

from collections.abc import Iterator, Sequence

import pinocchio as pin

from ros2_ik.core import Array, Configuration, Contact, Scene, SceneObject
from ros2_ik.view.surface import Color, shape_surface, Surface

WORLD, ATTACHED = (0.55, 0.6, 0.55), (0.65, 0.4, 0.75)    # default colours of objects
TOUCHED = 0.45                      # opacity of an object in contact
MAX_CONTACTS = 8                    # number of contacts shown
CONTACT_RADIUS = 0.015              # radius of the ball that marks a contact [m]
CONTACT = (0.9, 0.08, 0.08)         # colour of the ball that marks a contact


def drawn_object(item: SceneObject, default: Color = WORLD) -> list[tuple[Surface, pin.SE3]]:
    """
    Return the surfaces of an object, each with its pose in the object frame.

    `default` is the colour of an object without a colour, or with opacity 0.
    """
    r, g, b, opacity = item.color if item.color and item.color[3] > 0 else (*default, 1.0)
    return [(shape_surface(part.shape, (r, g, b), opacity), part.pose) for part in item.parts]


def placed_objects(scene: Scene, q: Array) -> Iterator[tuple[SceneObject, pin.SE3, Color]]:
    """Yield objects, their poses in the root frame at q (nq,), and their default colours."""
    for item in scene.objects.values():
        yield item, item.pose, WORLD
    at = Configuration(scene.robot, q)
    for held in scene.attached.values():
        yield held.object, at.placement(held.link) * held.object.pose, ATTACHED


def touched_names(contacts: Sequence[Contact]) -> set[str]:
    """Return the names of all bodies in contact."""
    return {name for one in contacts for name in (one.first, one.second)}


def contact_text(contact: Contact) -> str:
    """Return a text with the names of the bodies in contact and the depth."""
    return f'{contact.first} - {contact.second}: {1e3 * contact.depth:.1f} mm'
