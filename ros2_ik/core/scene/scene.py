"""The scene: objects in the world, objects attached to links, allowed collisions, padding."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, TypeVar
from uuid import uuid4

import pinocchio as pin

from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import entries, flag, instance, look_up, non_negative
from ros2_ik.core.errors import (
    InvalidSceneError,
    UnknownFrameError,
    UnknownLinkError,
    UnknownNameError,
    UnknownObjectError,
)
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene.allowed_collisions import AllowedCollisions
from ros2_ik.core.scene.scene_object import (
    AttachedObject,
    named_placements,
    OCTOMAP,
    scene_placement,
    SceneObject,
)

K = TypeVar('K')
V = TypeVar('V')


@dataclass(frozen=True, init=False)
class Scene:
    """
    The surroundings of a robot: world objects, attached objects, allowed collisions, padding.

    Immutable: each change returns a new scene, which shares unchanged parts, or raises
    InvalidSceneError or UnknownNameError. Changes follow MoveIt's planning
    scene, except that negative padding is refused, and `allow` refuses unknown names.

    `objects` have poses in the root frame, `attached` objects in the frame of their link.
    `allowed` starts with the pairs that the SRDF disables. `padding` maps link names to
    thicknesses [m] above 0. `frames` are named poses in the root frame. `version` is a unique
    string: each change creates a new one; pickling preserves it. If `guess_pairs` is True,
    pairs of links whose models seem to overlap are not checked (see `self_pairs`).

    Scenes compare by value, but hash by `version`: as keys of a dict or cache, equal scenes of
    different versions are different keys. Hashing all objects would slow down each lookup.

    Arguments that name a frame accept the robot's frames, object ids, 'id/subframe', the names in
    `frames`, and None for the root frame. Frames that move with the robot also require the
    configuration `at`, at which their poses are taken.
    """

    example: ClassVar[str] = ", such as load_scene('table', robot)"    # in errors of `instance`

    robot: Robot = field(compare=False)
    objects: Mapping[str, SceneObject]
    attached: Mapping[str, AttachedObject]
    allowed: AllowedCollisions
    padding: Mapping[str, float]
    named: Mapping[str, pin.SE3]    # the named frames; `frames` returns copies
    guess_pairs: bool
    version: str = field(compare=False)

    def __init__(self, robot: Robot, guess_pairs: bool = True) -> None:
        instance(robot, Robot, 'the robot of a scene', InvalidSceneError)
        self._fill(robot=robot, objects={}, attached={}, padding={}, named={},
                   allowed=AllowedCollisions.of_robot(robot),
                   guess_pairs=flag(guess_pairs, 'guess_pairs', InvalidSceneError),
                   version=uuid4().hex)

    def _fill(self, **values: object) -> None:
        # bypass `frozen`; store read-only views of mappings, which scenes can share safely
        for name, value in values.items():
            object.__setattr__(self, name, MappingProxyType(dict(value))
                               if isinstance(value, dict) else value)

    def __hash__(self) -> int:
        return hash(self.version)

    def _with(self, **changes: object) -> 'Scene':
        # an unchanged scene keeps its version, and so its cached collision checkers
        if all(getattr(self, name) is value for name, value in changes.items()):
            return self
        scene = Scene.__new__(Scene)
        scene._fill(**{**vars(self), 'version': uuid4().hex, **changes})
        return scene

    # -- objects in the world -------------------------------------------------------------

    def add(self, object: SceneObject, frame: str | None = None,
            at: Configuration | None = None) -> 'Scene':
        """Add a world object with its pose in `frame`; replaces a world object of the same id."""
        item = self._checked(object)
        if frame is not None:
            item = item.with_pose(self.frame_pose(frame, at) * item.pose)
        return self._with(objects={**self.objects, item.id: item})

    def move(self, id: str, pose: Pose, frame: str | None = None,
             at: Configuration | None = None, part_poses: Sequence[Pose] | None = None) -> 'Scene':
        """
        Move a world object, with its subframes, to `pose` in `frame`.

        `part_poses` are new poses of the object's parts, one for each, in the object frame.
        """
        moved = self._world_object(id)
        if part_poses is not None:
            moved = moved.with_part_poses(part_poses)
        place = scene_placement(pose, f"pose of object '{id}'")
        moved = moved.with_pose(self.frame_pose(frame, at) * place)
        return self._with(objects={**self.objects, id: moved})

    def remove(self, id: str | None = None) -> 'Scene':
        """
        Remove a world object and its entries in `allowed`.

        If `id` is None, all world objects except the octomap are removed. Attached objects stay.
        """
        removed = set(self.objects) - {OCTOMAP} if id is None else {self._world_object(id).id}
        return self._with(objects=_without(self.objects, removed),
                          allowed=self.allowed.without(*removed))

    # -- objects on links -----------------------------------------------------------------

    def attach(self, object: SceneObject | str, link: str, touch_links: Iterable[str] = (),
               at: Configuration | None = None) -> 'Scene':
        """
        Attach an object to a link.

        If `object` is the id of a world object, that object leaves the world; its pose relative
        to the link is computed at the configuration `at`. If `object` is a SceneObject, its pose
        is in the link frame, and it replaces a world or attached object of the same id. The
        attached object may touch `link` and `touch_links` (links and other attached objects).
        """
        self._link(link)
        if isinstance(object, SceneObject):
            in_link = self._checked(object)
        else:
            in_world = self._world_object(object)
            in_link = in_world.with_pose(self.frame_pose(link, at).actInv(in_world.pose))
        # as in MoveIt, touch_links may name objects that are not yet, or no longer, attached
        item = AttachedObject(in_link, link, touch_links)
        return self._with(objects=_without(self.objects, {item.id}),
                          attached={**self.attached, item.id: item})

    def detach(self, id: str | None = None, link: str | None = None,
               at: Configuration | None = None) -> 'Scene':
        """
        Detach objects: they become world objects at their poses in the configuration `at`.

        Detaches the object `id`; without `id`, all objects on `link`; with neither, all objects.
        If `id` and `link` are both given, the object must be attached to that link. If a world
        object has the same id, the world object stays and the detached object is deleted.
        """
        if link is not None:
            self._link(link)
        if id is None:
            attached = [item for item in self.attached.values() if link in (None, item.link)]
        else:
            attached = [look_up(self.attached, id, UnknownObjectError)]
            if link not in (None, attached[0].link):
                raise InvalidSceneError(f"object '{id}' is attached to '{attached[0].link}', "
                                        f"not to '{link}'")
        detached = {one.id: one.object.with_pose(self.frame_pose(one.link, at) * one.object.pose)
                    for one in attached if one.id not in self.objects}
        return self._with(objects={**self.objects, **detached} if detached else self.objects,
                          attached=_without(self.attached, {item.id for item in attached}))

    # -- allowed collisions, padding, colours, frames -------------------------------------

    def with_allowed(self, allowed: AllowedCollisions) -> 'Scene':
        """Return the scene with another allowed collision matrix."""
        return self._with(allowed=instance(allowed, AllowedCollisions, 'allowed',
                                           InvalidSceneError))

    def link_of(self, name: str) -> str | None:
        """Return the link of an attached object, None for a world object, otherwise `name`."""
        attached = self.attached.get(name)
        return attached.link if attached else None if name in self.objects else name

    def allow(self, first: str, second: str | None, allowed: bool = True) -> 'Scene':
        """
        Allow or forbid contact between two links or objects, which must exist.

        If `second` is None, set the default of `first` (see `AllowedCollisions`).
        """
        valid = [*self.robot.tree.links, *self.objects, *self.attached]
        for name in (first,) if second is None else (first, second):
            if not isinstance(name, str) or name not in valid:
                raise UnknownNameError(name, valid)
        entry = (AllowedCollisions(defaults={first: allowed}) if second is None
                 else AllowedCollisions({(first, second): allowed}))
        return self._with(allowed=self.allowed.updated(entry))

    def with_padding(self, padding: Mapping[str, float]) -> 'Scene':
        """Set the padding [m], >= 0, of links by name; padding thickens a link on all sides."""
        padded = dict(self.padding)
        for link, value in entries(padding, 'padding', InvalidSceneError):
            # unlike MoveIt, refuse negative padding: a link made thinner would hide contacts
            padded[link] = non_negative(value, f"padding of '{self._link(link)}'",
                                        InvalidSceneError)
        kept = {link: value for link, value in padded.items() if value}
        return self if kept == self.padding else self._with(padding=kept)

    def with_frames(self, frames: Mapping[str, Pose]) -> 'Scene':
        """Return the scene with added or replaced named frames; poses are in the root frame."""
        return self._with(named={**self.named, **named_placements(frames, 'frame')})

    @property
    def frames(self) -> dict[str, pin.SE3]:
        """Copies of the named frames: poses in the root frame, by name."""
        return {name: pose.copy() for name, pose in self.named.items()}

    def with_color(self, id: str, color: tuple[float, ...] | None) -> 'Scene':
        """Return the scene with an object in a colour (red, green, blue, alpha; None: default)."""
        objects, attached = dict(self.objects), dict(self.attached)
        if id not in objects and id not in attached:
            raise UnknownObjectError(id, [*objects, *attached])
        if id in objects:
            objects[id] = replace(objects[id], color=color)
        if id in attached:
            attached[id] = replace(attached[id], object=replace(attached[id].object, color=color))
        return self._with(objects=objects, attached=attached)

    def frame_pose(self, frame: str | None, at: Configuration | None = None) -> pin.SE3:
        """
        Return the pose of a frame in the root frame, a new pinocchio.SE3.

        If several frames have this name, frames of the robot have precedence, then attached
        objects, world objects, subframes, named frames.
        """
        if frame is None:
            return pin.SE3.Identity()
        link, pose = self.fixed_to(frame)
        return pose if link is None else self._link_pose(link, at) * pose

    def fixed_to(self, frame: str) -> tuple[str | None, pin.SE3]:
        """
        Return the robot frame that carries `frame` (None: root), and the pose of `frame` in it.

        Raises UnknownFrameError, which lists the valid names.
        """
        if not isinstance(frame, str):
            raise InvalidSceneError(f'a frame is a name, not {frame!r}')
        placed = _placed_frames(self)
        if frame in self.robot.frame_names:
            return frame, pin.SE3.Identity()
        if frame in placed:
            link, pose = placed[frame]
            return link, pose.copy()
        raise UnknownFrameError(frame, self.frame_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: of the robot, then named frames, subframes and objects."""
        return tuple(dict.fromkeys((*self.robot.frame_names, *_placed_frames(self))))

    def framed_robot(self, names: Iterable[str] | None = None,
                     robot: Robot | None = None) -> Robot:
        """
        Return the robot with frames of this scene added (see `Robot.with_frames`).

        Adds the frames in `names` (default: all frames of the scene) that the robot lacks. `robot`
        (default: the robot of the scene) may be that robot with frames already added.

        Raises UnknownFrameError for an unknown name. Raises InvalidSceneError if `robot` is
        another robot, or if one of its added frames has another pose in this scene, for example
        because an object was moved after the frame was added.
        """
        robot = self.robot if robot is None else robot
        if robot.key != self.robot.key:
            raise InvalidSceneError(f"the scene belongs to robot '{self.robot.name}', not to the "
                                    f"given robot '{robot.name}'")
        missing = [name for name in (self.frame_names if names is None else names)
                   if name not in robot.frame_names]
        placed = _placed_frames(self)
        for name in missing:
            if name not in placed:
                raise UnknownFrameError(name, self.frame_names)
        for name, (link, pose) in robot.added_frames.items():
            if name in placed and (link, pose) != placed[name]:
                raise InvalidSceneError(f"frame '{name}' of the robot differs from that of the "
                                        'scene: pass the robot without the frames of a scene')
        return robot.with_frames({name: placed[name] for name in missing})

    def _link_pose(self, link: str, at: Configuration | None) -> pin.SE3:
        robot = self.robot
        if at is None:
            if robot.moving_joints(link):
                raise InvalidSceneError(f"frame '{link}' moves with the robot: give the "
                                        'configuration `at`')
            # any configuration will do, because no joint moves the link
            at = Configuration(robot, data=robot.scratch_data())
        elif instance(at, Configuration, 'at', InvalidSceneError).robot.key != robot.key:
            raise InvalidSceneError(f"at is a configuration of robot '{at.robot.name}', "
                                    f"the scene belongs to '{robot.name}'")
        return at.placement(link)

    def rebased(self, base: 'Scene', other: 'Scene') -> 'Scene':
        """Return `other` with the changes from `base` to this scene applied to it."""
        if other is base:
            return self
        if not self.robot.key == base.robot.key == other.robot.key:
            raise InvalidSceneError('scenes of different robots cannot be combined')
        changed = {name: _merged(*(getattr(scene, name) for scene in (self, base, other)))
                   for name in ('objects', 'attached', 'padding', 'named')}
        # merge matrices entry by entry, because both scenes may have changed different pairs
        allowed = (scene.allowed for scene in (self, base, other))
        return other._with(**changed, allowed=AllowedCollisions(*(
            _merged(*mappings) for mappings in zip(*(
                (matrix.pairs, matrix.defaults) for matrix in allowed), strict=True))))

    # -- copies and comparison ------------------------------------------------------------

    def __getstate__(self) -> dict[str, object]:
        return {name: dict(value) if isinstance(value, Mapping) else value
                for name, value in vars(self).items()}

    def __setstate__(self, state: dict[str, object]) -> None:
        self._fill(**state)

    def __repr__(self) -> str:
        return (f"Scene('{self.robot.name}', objects={list(self.objects)}, "
                f'attached={list(self.attached)})')

    # -- checks of arguments --------------------------------------------------------------

    def _checked(self, item: SceneObject) -> SceneObject:
        """Check the type and the id of a new object; return the object."""
        instance(item, SceneObject, 'an object', InvalidSceneError)
        if item.id in self.robot.frame_names:
            raise InvalidSceneError(f"the id '{item.id}' is a frame of the robot: give the object "
                                    'another id')
        return item

    def _world_object(self, id: str) -> SceneObject:
        if isinstance(id, str) and id in self.attached and id not in self.objects:
            raise InvalidSceneError(f"object '{id}' is attached to '{self.attached[id].link}', "
                                    'not in the world: detach it first')
        return look_up(self.objects, id, UnknownObjectError)

    def _link(self, link: str) -> str:
        links = self.robot.tree.links
        if not isinstance(link, str) or link not in links:
            raise UnknownLinkError(link, links)
        return link


def _without(items: Mapping[K, V], removed: Iterable[K]) -> Mapping[K, V]:
    """Return the items whose keys are not in `removed`, or `items` itself if none is removed."""
    removed = set(removed).intersection(items)
    return {id: item for id, item in items.items() if id not in removed} if removed else items


def _merged(mine: Mapping[K, V], base: Mapping[K, V],
            other: Mapping[K, V]) -> dict[K, V]:
    """Three-way merge: return `other` with the changes from `base` to `mine` applied."""
    # compare by identity: scenes share unchanged values
    changed = {name: value for name, value in mine.items() if base.get(name) is not value}
    return {**_without(other, base.keys() - mine.keys()), **changed}


# cached: `solve_pose` needs the frames in each call, and a scene may have hundreds of objects
@lru_cache(maxsize=8)
def _placed_frames(scene: Scene) -> dict[str, tuple[str | None, pin.SE3]]:
    """Return the link (None: root) of each scene frame, and the frame's pose in the link."""
    items = [*((None, item) for item in scene.objects.values()),
             *((attached.link, attached.object) for attached in scene.attached.values())]
    # if several frames have the same name, the last one counts
    return {**{name: (None, pose) for name, pose in scene.frames.items()},
            **{f'{item.id}/{name}': (link, item.pose * pose)
               for link, item in items for name, pose in item.subframes.items()},
            **{item.id: (link, item.pose) for link, item in items}}
