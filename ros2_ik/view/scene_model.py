"""What the objects of a scene look like, and what touches."""

from collections.abc import Iterator, Sequence
from typing import Any

from ros2_ik.core import Array, Configuration, Contact, Scene, SceneObject
from ros2_ik.view.surface import Color, shape_surface, Surface

WORLD, ATTACHED = (0.55, 0.6, 0.55), (0.65, 0.4, 0.75)    # of what has no colour
TOUCHED = 0.45                      # opacity of what is touched, so that one sees where
MOST_CONTACTS = 8                   # that are shown
CONTACT_RADIUS = 0.015              # of the ball where something touches [m]
CONTACT = (0.9, 0.08, 0.08)         # its colour


def drawn_object(item: SceneObject, usual: Color = WORLD) -> list[tuple[Surface, Any]]:
    """
    Return the surfaces of an object, each with its pose in the object, pinocchio.SE3.

    `usual` is its colour where it has none.
    """
    r, g, b, opacity = item.color if item.color and item.color[3] > 0 else (*usual, 1.0)
    return [(shape_surface(part.shape, (r, g, b), opacity), part.pose) for part in item.parts]


def placed_objects(scene: Scene, q: Array) -> Iterator[tuple[SceneObject, Any, Color]]:
    """Yield the objects, each where it is with the robot at q (nq,), and its usual colour."""
    for item in scene.objects.values():
        yield item, item.pose, WORLD
    for id, held in scene.attached.items():
        yield held.object, held_pose(scene, id, q), ATTACHED


def held_pose(scene: Scene, id: str, q: Array) -> Any:
    """Return where an attached object is at q (nq,) in the root frame, pinocchio.SE3."""
    held = scene.attached[id]
    return Configuration(scene.robot, q).placement(held.link) * held.object.pose


def touched_names(contacts: Sequence[Contact]) -> set[str]:
    """Return the names of what touches."""
    return {name for one in contacts for name in (one.first, one.second)}


def contact_text(contact: Contact) -> str:
    """Return what touches, and how deep."""
    return f'{contact.first} - {contact.second}: {1e3 * contact.depth:.1f} mm'
