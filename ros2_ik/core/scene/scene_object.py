"""Objects made of shapes, in the world or attached to a link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pinocchio as pin

from ros2_ik.core import poses
from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import as_list, entries, instance, instances, text, vector
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene.shapes import OcTree, Shape

OCTOMAP = '<octomap>'   # MoveIt's id of the octomap that sensors build
# colours of objects without a colour (red, green, blue, alpha)
WORLD_COLOR = (0.55, 0.6, 0.55, 1.0)
ATTACHED_COLOR = (0.65, 0.4, 0.75, 1.0)


def scene_placement(pose: Pose, what: str) -> pin.SE3:
    """Convert a pose (None: identity) to a new pinocchio.SE3; raises InvalidSceneError."""
    return pin.SE3.Identity() if pose is None else poses.as_placement(
        pose, what, InvalidSceneError)


def named_placements(poses_by_name: Mapping[str, Pose] | None, what: str, of: str = ''
                     ) -> dict[str, pin.SE3]:
    """
    Convert a mapping from names to poses with `scene_placement`.

    Error messages contain `what` and `of`, for example 'subframe' and " of object 'cup'".
    """
    return {text(name, f'the name of a {what}{of}', InvalidSceneError):
            scene_placement(pose, f"pose of {what} '{name}'{of}")
            for name, pose in entries(poses_by_name, f'{what}s{of}', InvalidSceneError)}


class PoseField:
    """
    Descriptor for a pose in a frozen dataclass, or for `subframes`, a mapping from names to poses.

    Assignment converts poses with `scene_placement`. Reading the field returns copies, because a
    pinocchio.SE3 can be changed in place. Error messages contain the `id` of the dataclass
    instance, if the instance has an `id`.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    # `instance` is None on class access: dataclasses take the result, None, as the default
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        value = None if instance is None else vars(instance)[self.name]
        if isinstance(value, dict):
            return {name: pose.copy() for name, pose in value.items()}
        return None if value is None else value.copy()

    def __set__(self, instance: object, value: Any) -> None:
        owner = getattr(instance, 'id', None)
        of = '' if owner is None else f" of object '{owner}'"
        vars(instance)[self.name] = (named_placements(value, 'subframe', of)
                                     if self.name == 'subframes'
                                     else scene_placement(value, f'{self.name}{of}'))


@dataclass(frozen=True)
class ShapeInstance:
    """
    A shape and its pose in the object frame (default: identity).

    `pose` can be given as a (4, 4) array or pinocchio.SE3; reading `pose` returns a copy, which is
    a pinocchio.SE3. Raises InvalidSceneError.
    """

    shape: Shape
    pose: pin.SE3 = PoseField()

    def __post_init__(self) -> None:
        instance(self.shape, Shape, 'the shape of a part', InvalidSceneError)

    # not hashable, because equal pinocchio.SE3 objects have different hashes
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class SceneObject:
    """
    An object: an id, one or more parts, a pose, named subframes and a colour.

    `parts` are ShapeInstances, (shape, pose) pairs or shapes. `subframes` maps names to poses.
    Poses of parts and subframes are in the object frame. `pose` (default: identity) is relative to
    the frame in which the object is added to a scene. `color` is red, green, blue and alpha, each
    in [0, 1].

    Objects compare by value. Raises InvalidSceneError.
    """

    id: str
    parts: tuple[ShapeInstance, ...]
    pose: pin.SE3 = PoseField()
    subframes: Any = PoseField()
    color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        # ids appear in messages, logs and terminals: control characters would break the output
        if not isinstance(self.id, str) or not self.id or not self.id.isprintable():
            raise InvalidSceneError(f'the id of an object is {self.id!r}; it must be a non-empty '
                                    'text of printable characters')
        what = f"object '{self.id}'"
        object.__setattr__(self, 'parts', as_parts(self.parts, what))
        if self.color is not None:
            rgba = vector(self.color, f'the colour of {what}', 4, InvalidSceneError).tolist()
            if not all(0 <= value <= 1 for value in rgba):
                raise InvalidSceneError(f'the colour of {what} must be red, green, blue, alpha '
                                        f'in [0, 1], not {rgba}')
            object.__setattr__(self, 'color', tuple(rgba))
        if self.id == OCTOMAP and not all(isinstance(p.shape, OcTree) for p in self.parts):
            raise InvalidSceneError(f"the id '{OCTOMAP}' is reserved for an octree")

    def drawn_color(self, attached: bool = False) -> tuple[float, ...]:
        """Return `color`, or a default colour if `color` is None or fully transparent."""
        default = ATTACHED_COLOR if attached else WORLD_COLOR
        return self.color if self.color and self.color[3] > 0 else default

    def with_pose(self, pose: Pose) -> 'SceneObject':
        """Return the object at another pose; parts and subframes move with it."""
        return replace(self, pose=pose)

    def with_part_poses(self, poses: Sequence[Pose]) -> 'SceneObject':
        """Return the object with one new pose for each part, in the object frame."""
        given = as_list(poses)
        if given is None or len(given) != len(self.parts):
            raise InvalidSceneError(f"object '{self.id}' has {len(self.parts)} parts, not "
                                    f'{poses if given is None else len(given)}: give a pose for '
                                    'each part, or none')
        moved = [(part.shape, pose) for part, pose in zip(self.parts, given, strict=True)]
        return replace(self, parts=as_parts(moved, f"object '{self.id}'"))


@dataclass(frozen=True)
class AttachedObject:
    """
    An object that moves with a link; the pose of `object` is in the link frame.

    The object may touch its own link, other objects attached to this link, and `touch_links`:
    names of links and ids of attached objects.
    """

    object: SceneObject
    link: str
    touch_links: Any = frozenset()   # any iterable of names; stored as a frozenset

    def __post_init__(self) -> None:
        instance(self.object, SceneObject, 'the attached object', InvalidSceneError)
        what = f"object '{self.object.id}'"
        if any(isinstance(part.shape, OcTree) for part in self.object.parts):
            raise InvalidSceneError(f'{what} has an octree, which cannot be attached; valid: '
                                    'boxes, a mesh or a convex hull')
        text(self.link, f'the link of {what}', InvalidSceneError)
        names = [self.touch_links] if isinstance(self.touch_links, str) else self.touch_links
        names = instances(names, str, f'touch_links of {what}', InvalidSceneError)
        object.__setattr__(self, 'touch_links', frozenset({self.link, *names}))

    @property
    def id(self) -> str:
        """Id of the object."""
        return self.object.id


def as_parts(parts: object, what: str) -> tuple[ShapeInstance, ...]:
    """Convert `parts` of a `SceneObject` to ShapeInstances; raises InvalidSceneError."""
    given = as_list(parts)
    if not given:
        raise InvalidSceneError(f'{what} needs at least one part, not {parts!r}')
    return tuple(_part(part, f'{what}, part {index}') for index, part in enumerate(given))


def _part(part: Any, what: str) -> ShapeInstance:
    if isinstance(part, ShapeInstance):
        return part
    try:
        pair = isinstance(part, (tuple, list)) and len(part) == 2
        return ShapeInstance(*part) if pair else ShapeInstance(part)
    except InvalidSceneError as error:
        raise InvalidSceneError(f'{what}: {error}') from None
