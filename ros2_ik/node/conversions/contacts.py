"""Contacts and distances of a collision check as messages."""

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import Header

from ros2_ik.core import Contact, Distances, Scene
from ros2_ik.msg import BodyDistance, Contact as ContactMessage


def contact_messages(contacts: Iterable[Contact], scene: Scene | None,
                     header: Header) -> list[ContactMessage]:
    """Write contacts of a scene; `header` is in the root frame."""
    return [ContactMessage(
        header=header, position=_point(contact.point), depth=float(contact.depth),
        contact_body_1=contact.first, body_type_1=_kind(contact.first, scene),
        contact_body_2=contact.second, body_type_2=_kind(contact.second, scene))
        for contact in contacts]


def _kind(name: str, scene: Scene | None) -> int:
    kind: int = ContactMessage.ROBOT_LINK
    if scene is not None and name in scene.attached:
        kind = ContactMessage.ROBOT_ATTACHED
    elif scene is not None and name in scene.objects:
        kind = ContactMessage.WORLD_OBJECT
    return kind


def distance_messages(found: Distances, header: Header) -> list[BodyDistance]:
    """Write distances; `header` is in the root frame."""
    return [BodyDistance(
        header=header, body_1=names[0], body_2=names[1], distance=float(found.distance[k]),
        point_1=_point(found.first_point[k]), point_2=_point(found.second_point[k]),
        normal=Vector3(**_xyz(found.normal[k]))) for k, names in enumerate(found.names)]


def _point(values: Any) -> Point:
    return Point(**_xyz(values))


def _xyz(values: Any) -> dict[str, float]:
    return dict(zip('xyz', (float(value) for value in values), strict=True))
