"""What the objects of a scene look like."""

from typing import Any, NamedTuple

from ros2_ik.core import Array, Configuration, Scene, SceneObject
from ros2_ik.view.surface import Color, shape_surface, Surface

WORLD, ATTACHED = (0.55, 0.6, 0.55), (0.65, 0.4, 0.75)    # of what has no colour


class DrawnObject(NamedTuple):
    """The surfaces of an object, and where each of them is in the object, pinocchio.SE3."""

    surfaces: tuple[Surface, ...]
    poses: tuple[Any, ...]


def drawn_object(item: SceneObject, usual: Color = WORLD) -> DrawnObject:
    """Return what an object looks like; `usual` is its colour where it has none."""
    r, g, b, opacity = item.color if item.color and item.color[3] > 0 else (*usual, 1.0)
    return DrawnObject(tuple(shape_surface(part.shape, (r, g, b), opacity)
                             for part in item.parts),
                       tuple(part.pose for part in item.parts))


def held_pose(scene: Scene, id: str, q: Array) -> Any:
    """Return where an attached object is at q (nq,) in the root frame, pinocchio.SE3."""
    held = scene.attached[id]
    return Configuration(scene.robot, q).placement(held.link) * held.object.pose
