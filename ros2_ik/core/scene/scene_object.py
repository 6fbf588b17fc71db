"""Objects: shapes with poses under one name, in the world or attached to a link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TYPE_CHECKING

from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import instance, instances, listed, text, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene.poses import PoseField, SubframesField
from ros2_ik.core.scene.shapes import OcTree, Shape

if TYPE_CHECKING:
    import pinocchio as pin

OCTOMAP = '<octomap>'   # MoveIt's name for the sensed world


@dataclass(frozen=True)
class ShapeInstance:
    """
    A shape and its pose in the object, a (4, 4) array or pinocchio.SE3 (default: identity).

    `pose` gives a copy, a pinocchio.SE3. Raises InvalidSceneError.
    """

    shape: Shape
    pose: 'pin.SE3' = PoseField()

    def __post_init__(self) -> None:
        instance(self.shape, Shape, 'the shape of a part', InvalidSceneError)

    def __hash__(self) -> int:
        return hash(self.shape)   # equal poses have no equal hashes in Pinocchio


@dataclass(frozen=True)
class SceneObject:
    """
    Something in the world: an id, one or more parts, a pose, named frames on it, a colour.

    `parts` are ShapeInstances, (shape, pose) pairs or shapes; their poses, and those of
    `subframes`, by name, are in the object. `pose` is where the object is, in the frame it is
    added in (default: identity). `color` is red, green, blue, alpha in [0, 1].

    Compares by value. Raises InvalidSceneError.
    """

    id: str
    parts: tuple[ShapeInstance, ...]
    pose: 'pin.SE3' = PoseField()
    subframes: Any = SubframesField()
    color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        # the id is shown in messages, in logs and on terminals
        if not isinstance(self.id, str) or not self.id or not self.id.isprintable():
            raise InvalidSceneError(f'the id of an object is {self.id!r}; it must be a text '
                                    'that is not empty, of characters that can be printed')
        what = f"object '{self.id}'"
        object.__setattr__(self, 'parts', as_parts(self.parts, what))
        if self.color is not None:
            object.__setattr__(self, 'color', as_color(self.color, f'the colour of {what}'))
        if self.id == OCTOMAP and not all(isinstance(p.shape, OcTree) for p in self.parts):
            raise InvalidSceneError(f"the id '{OCTOMAP}' is kept for an octree")

    def __hash__(self) -> int:
        return hash((self.id, self.parts))

    def with_pose(self, pose: Pose) -> 'SceneObject':
        """Return the same object elsewhere; parts and subframes come along."""
        return replace(self, pose=pose)

    def with_part_poses(self, poses: Sequence[Pose]) -> 'SceneObject':
        """Return the same object with its parts at other poses, one for each."""
        given = listed(poses)
        if given is None or len(given) != len(self.parts):
            raise InvalidSceneError(f"object '{self.id}' has {len(self.parts)} parts, not "
                                    f'{poses if given is None else len(given)}: give a list of a '
                                    'pose for each, or none')
        moved = [(part.shape, pose) for part, pose in zip(self.parts, given, strict=True)]
        return replace(self, parts=as_parts(moved, f"object '{self.id}'"))


@dataclass(frozen=True)
class AttachedObject:
    """
    An object held by a link: its pose is in the link's frame, it moves with the link.

    `touch_links` are links, and ids of other attached objects, that it may touch; its own link
    always is one of them.
    """

    object: SceneObject
    link: str
    touch_links: Any = frozenset()   # taken as any list of names

    def __post_init__(self) -> None:
        instance(self.object, SceneObject, 'what is attached', InvalidSceneError)
        what = f"object '{self.object.id}'"
        if any(isinstance(part.shape, OcTree) for part in self.object.parts):
            raise InvalidSceneError(f'{what} has an octree, which cannot be attached; valid: '
                                    'boxes, a mesh or a convex hull')
        text(self.link, f'the link of {what}', InvalidSceneError)
        given = [self.touch_links] if isinstance(self.touch_links, str) else self.touch_links
        names = instances(given, str, f'touch_links of {what}', InvalidSceneError)
        object.__setattr__(self, 'touch_links', frozenset({self.link, *names}))

    @property
    def id(self) -> str:
        """Id of the object."""
        return self.object.id

    def may_touch(self, other: 'str | AttachedObject') -> bool:
        """Return whether it may touch that link, or that other attached object."""
        if isinstance(other, AttachedObject):
            return (self.link == other.link or other.id in self.touch_links
                    or self.id in other.touch_links)
        return other in self.touch_links


def as_parts(parts: object, what: str) -> tuple[ShapeInstance, ...]:
    """Read one or more parts, see `SceneObject`; raises InvalidSceneError."""
    given = listed(parts)
    if not given:
        raise InvalidSceneError(f'{what} needs at least one part, not {parts!r}')
    return tuple(_part(part, f'{what}, part {index}') for index, part in enumerate(given))


def as_color(color: object, what: str) -> tuple[float, ...]:
    """Read red, green, blue, alpha; raises InvalidSceneError."""
    rgba: tuple[float, ...] = tuple(vector(color, what, 4, InvalidSceneError).tolist())
    if not all(0 <= value <= 1 for value in rgba):
        raise InvalidSceneError(f'{what} must be red, green, blue, alpha in [0, 1], '
                                f'not {list(rgba)}')
    return rgba


def _part(part: Any, what: str) -> ShapeInstance:
    if isinstance(part, ShapeInstance):
        return part
    try:
        pair = isinstance(part, (tuple, list)) and len(part) == 2
        return ShapeInstance(*part) if pair else ShapeInstance(part)
    except InvalidSceneError as error:
        raise InvalidSceneError(f'{what}: {error}') from None
