"""The scene: the objects round the robot, and those attached to it, as a value."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from ros2_ik.core.arrays import Pose
from ros2_ik.core.checks import entries, flag, instance, non_negative
from ros2_ik.core.errors import (
    InvalidOptionError,
    InvalidSceneError,
    UnknownFrameError,
    UnknownLinkError,
    UnknownNameError,
    UnknownObjectError,
)
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene.allowed_collisions import AllowedCollisions
from ros2_ik.core.scene.poses import named_placements, scene_placement
from ros2_ik.core.scene.scene_object import as_color, AttachedObject, OCTOMAP, SceneObject

if TYPE_CHECKING:
    import pinocchio as pin

K = TypeVar('K')
V = TypeVar('V')

STATE = ('objects', 'attached', 'allowed', 'padding', 'named', 'guess_pairs')


def check_scene(value: object) -> None:
    """Raise InvalidOptionError unless the value is a Scene."""
    if not isinstance(value, Scene):
        raise InvalidOptionError("scene must be a Scene, such as load_scene('table', robot), not "
                                 f'{value!r}')


@dataclass(frozen=True, init=False, eq=False)
class Scene:
    """
    A robot's surroundings: objects in the world, objects attached to links, what may touch what.

    Immutable: each change gives a new scene that shares all that stayed the same, or raises
    InvalidSceneError or UnknownNameError. Changes mean what they mean in MoveIt's planning scene.

    `objects` have their poses in the root frame, `attached` ones in the frame of their link;
    `allowed` starts as the SRDF's disabled pairs; `padding` [m] is of links, by name, where it is
    not 0; `frames` are named poses in the root frame. `version` is another text after each change,
    and the same text in a copy that was pickled. `guess_pairs` leaves out links that nearly always
    touch though no SRDF disables them, see `self_pairs`.

    Where a frame is asked for, None is the root frame, and valid are the robot's frames, ids,
    'id/subframe' and `frames`. One that moves with the robot needs `at`, a configuration.
    """

    robot: Robot
    objects: Mapping[str, SceneObject]
    attached: Mapping[str, AttachedObject]
    allowed: AllowedCollisions
    padding: Mapping[str, float]
    named: 'Mapping[str, pin.SE3]'    # see `frames`, which gives copies
    guess_pairs: bool
    version: str

    def __init__(self, robot: Robot, guess_pairs: bool = True) -> None:
        instance(robot, Robot, 'the robot of a scene', InvalidSceneError)
        self._fill(robot=robot, objects={}, attached={}, padding={}, named={},
                   allowed=AllowedCollisions.of_robot(robot),
                   guess_pairs=flag(guess_pairs, 'guess_pairs', InvalidSceneError),
                   version=uuid4().hex)

    def _fill(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, MappingProxyType(dict(value))
                               if isinstance(value, dict) else value)

    def _with(self, **changes: object) -> 'Scene':
        if all(getattr(self, name) is value for name, value in changes.items()):
            return self
        scene = Scene.__new__(Scene)
        scene._fill(**{**vars(self), 'version': uuid4().hex, **changes})
        return scene

    # -- objects in the world -------------------------------------------------------------

    def add(self, object: SceneObject, frame: str | None = None,
            at: Configuration | None = None) -> 'Scene':
        """Put an object whose pose is in `frame` into the world, in place of one of its id."""
        item = self._admitted(object)
        if frame is not None:
            item = item.with_pose(self.frame_pose(frame, at) * item.pose)
        return self._with(objects={**self.objects, item.id: item})

    def move(self, id: str, pose: Pose, frame: str | None = None,
             at: Configuration | None = None, part_poses: Sequence[Pose] | None = None) -> 'Scene':
        """
        Move an object to `pose` in `frame`; subframes come along.

        `part_poses` move its parts within it, one for each.
        """
        moved = self._object(id)
        if part_poses is not None:
            moved = moved.with_part_poses(part_poses)
        place = scene_placement(pose, f"pose of object '{id}'")
        moved = moved.with_pose(self.frame_pose(frame, at) * place)
        return self._with(objects={**self.objects, id: moved})

    def remove(self, id: str | None = None) -> 'Scene':
        """
        Remove an object from the world, with its entries in `allowed`.

        None removes all but the octomap. Attached objects stay.
        """
        gone = set(self.objects) - {OCTOMAP} if id is None else {self._object(id).id}
        return self._with(objects=_without(self.objects, gone),
                          allowed=self.allowed.without(*gone))

    # -- objects on links -----------------------------------------------------------------

    def attach(self, object: SceneObject | str, link: str, touch_links: Iterable[str] = (),
               at: Configuration | None = None) -> 'Scene':
        """
        Attach an object to a link.

        The id of a world object moves that object onto the link; it stays where it is at `at`. A
        SceneObject has its pose in the link's frame; it takes the place of objects of its id,
        attached or in the world. `touch_links` are links and attached objects that it may touch;
        `link` always is one.
        """
        self._link(link)
        if isinstance(object, SceneObject):
            held = self._admitted(object)
        else:
            placed = self._object(object)
            held = placed.with_pose(self.frame_pose(link, at).actInv(placed.pose))
        item = AttachedObject(held, link, touch_links)
        valid = [*self.robot.tree.links, *self.attached, item.id]
        for name in sorted(item.touch_links):
            if name not in valid:
                raise UnknownNameError(name, valid)
        return self._with(objects=_without(self.objects, {item.id}),
                          attached={**self.attached, item.id: item})

    def detach(self, id: str | None = None, link: str | None = None,
               at: Configuration | None = None) -> 'Scene':
        """
        Give attached objects back to the world, at their poses in the configuration `at`.

        One, or all of a link, or all. Given both, the object must be on that link. Where the
        world has an object of that id, that one stays and the attached one is gone.
        """
        if link is not None:
            self._link(link)
        if id is None:
            held = [item for item in self.attached.values() if link in (None, item.link)]
        else:
            held = [self._held(id)]
            if link not in (None, held[0].link):
                raise InvalidSceneError(f"object '{id}' is attached to '{held[0].link}', "
                                        f"not to '{link}'")
        back = {item.id: item.object.with_pose(self.frame_pose(item.link, at) * item.object.pose)
                for item in held if item.id not in self.objects}
        return self._with(objects={**self.objects, **back} if back else self.objects,
                          attached=_without(self.attached, {item.id for item in held}))

    # -- the rest -------------------------------------------------------------------------

    def clear(self) -> 'Scene':
        """Return an empty scene without padding, `allowed` as in the SRDF; named frames stay."""
        return Scene(self.robot, self.guess_pairs)._with(named=self.named)

    def with_allowed(self, allowed: AllowedCollisions) -> 'Scene':
        """Return the scene with this whole matrix in place of its own."""
        return self._with(allowed=instance(allowed, AllowedCollisions, 'allowed',
                                           InvalidSceneError))

    def link_of(self, name: str) -> str | None:
        """Return the link that is named, or holds the object of that name; None: the world."""
        held = self.attached.get(name)
        return held.link if held else None if name in self.objects else name

    def allow(self, first: str, second: str | None, allowed: bool = True) -> 'Scene':
        """
        Allow (or forbid) contact of two links or objects; both must exist.

        None is any other name without an entry of its own, see `AllowedCollisions`.
        """
        valid = [*self.robot.tree.links, *self.objects, *self.attached]
        for name in (first,) if second is None else (first, second):
            if not isinstance(name, str) or name not in valid:
                raise UnknownNameError(name, valid)
        return self._with(allowed=self.allowed.with_entry(first, second, allowed))

    def with_padding(self, padding: Mapping[str, float]) -> 'Scene':
        """Return the scene with these links thicker by so much all round, [m], from 0."""
        found = dict(self.padding)
        for link, value in entries(padding, 'padding', InvalidSceneError):
            # MoveIt accepts negative ones
            found[link] = non_negative(value, f"padding of '{self._link(link)}'",
                                       InvalidSceneError)
        return self._with(padding={link: value for link, value in found.items() if value})

    def with_frames(self, frames: Mapping[str, Pose]) -> 'Scene':
        """Return the scene with more named frames, poses in the root frame."""
        return self._with(named={**self.named, **named_placements(frames, 'frame')})

    @property
    def frames(self) -> 'dict[str, pin.SE3]':
        """Poses of the named frames in the root frame, copies."""
        return {name: pose.copy() for name, pose in self.named.items()}

    def with_colors(self, colors: Mapping[str, Sequence[float] | None]) -> 'Scene':
        """Return the scene with these objects in other colours, by id; None is no colour."""
        objects, attached = dict(self.objects), dict(self.attached)
        for id, color in entries(colors, 'colors', InvalidSceneError):
            if id not in objects and id not in attached:
                raise UnknownObjectError(id, [*objects, *attached])
            rgba = None if color is None else as_color(color, f"the colour of object '{id}'")
            if id in objects:
                objects[id] = replace(objects[id], color=rgba)
            if id in attached:
                attached[id] = replace(attached[id],
                                       object=replace(attached[id].object, color=rgba))
        return self._with(objects=objects, attached=attached)

    @property
    def colors(self) -> dict[str, tuple[float, ...]]:
        """Colours by id, of the objects that have one."""
        items = [*self.objects.values(), *(held.object for held in self.attached.values())]
        return {item.id: item.color for item in items if item.color is not None}

    def frame_pose(self, frame: str | None, at: Configuration | None = None) -> 'pin.SE3':
        """
        Pose of a frame in the root frame, a new pinocchio.SE3.

        Frames of the robot come first, then objects, their subframes, and named frames; as in
        MoveIt a leading slash does not count.
        """
        if frame is None:
            return scene_placement(None, '')
        link, pose = self.fixed_to(frame)
        return pose if link is None else self._link_pose(link, at) * pose

    def fixed_to(self, frame: str) -> 'tuple[str | None, pin.SE3]':
        """
        Return a frame of the robot that `frame` is fixed to, and its pose there (SE3).

        None is the root frame. Raises UnknownFrameError, which lists what there is.
        """
        if not isinstance(frame, str):
            raise InvalidSceneError(f'a frame is a name, not {frame!r}')
        for name in (frame, frame.removeprefix('/')):
            if name in self.robot.frame_names:
                return name, scene_placement(None, '')
            for known, link, pose in self._fixed_frames():
                if known == name:
                    return link, pose
        raise UnknownFrameError(frame, self.frame_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: of the robot, then of objects and subframes, then named ones."""
        return tuple(dict.fromkeys((*self.robot.frame_names,
                                    *(name for name, *_ in self._fixed_frames()))))

    def framed_robot(self, names: Iterable[str] | None = None,
                     robot: Robot | None = None) -> Robot:
        """
        Return the robot with frames of this scene, to be used like links: see `with_frames`.

        Adds the frames in `names` (default: all of the scene) that the robot lacks. `robot` is
        this scene's robot, perhaps with frames of its own. Raises UnknownFrameError, or
        InvalidSceneError for another robot.
        """
        robot = self.robot if robot is None else robot
        if robot.key != self.robot.key:
            raise InvalidSceneError(f"the scene is of robot '{self.robot.name}', not of the robot "
                                    f"'{robot.name}' given")
        lacking = [name for name in (self.frame_names if names is None else names)
                   if name not in robot.frame_names]
        if not lacking:
            return robot
        found = dict[str, tuple[str | None, 'pin.SE3']]()
        for name, link, pose in self._fixed_frames():
            found.setdefault(name, (link, pose))
        for name in lacking:
            if name not in found:
                raise UnknownFrameError(name, tuple(dict.fromkeys((*robot.frame_names,
                                                                   *self.frame_names))))
        return robot.with_frames({name: found[name] for name in lacking})

    def _fixed_frames(self) -> 'Iterator[tuple[str, str | None, pin.SE3]]':
        """Yield names, the link that each is fixed to (None: the root), and the pose there."""
        items = [*((held.link, held.object) for held in self.attached.values()),
                 *((None, item) for item in self.objects.values())]
        yield from ((item.id, link, item.pose) for link, item in items)
        for link, item in items:
            for name, T_object_frame in item.subframes.items():
                yield f'{item.id}/{name}', link, item.pose * T_object_frame
        yield from ((name, None, pose) for name, pose in self.frames.items())

    def _link_pose(self, link: str, at: Configuration | None) -> 'pin.SE3':
        robot = self.robot
        if at is None:
            if robot.moving_joints(link):
                raise InvalidSceneError(f"frame '{link}' moves with the robot: say with `at` at "
                                        'which configuration it is meant')
            at = Configuration(robot, data=robot.scratch_data())
        elif instance(at, Configuration, 'at', InvalidSceneError).robot.key != robot.key:
            raise InvalidSceneError(f"at is a configuration of robot '{at.robot.name}', "
                                    f"the scene is of '{robot.name}'")
        return at.placement(link)

    def rebased(self, base: 'Scene', other: 'Scene') -> 'Scene':
        """
        Return `other` with all by which this scene differs from `base`.

        Raises InvalidSceneError where an object of one id would be in the world and attached.
        """
        if other is base:
            return self
        if not self.robot.key == base.robot.key == other.robot.key:
            raise InvalidSceneError('scenes of different robots have no difference')
        changed = {name: _merged(*(getattr(scene, name) for scene in (self, base, other)))
                   for name in ('objects', 'attached', 'padding', 'named')}
        twice = sorted(changed['objects'].keys() & changed['attached'].keys())
        if twice:
            raise InvalidSceneError(f"object '{twice[0]}' is held, and another one of that id has "
                                    'come into the scene')
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return self.robot.key == other.robot.key and all(
            getattr(self, name) == getattr(other, name) for name in STATE)

    __hash__ = None  # type: ignore[assignment]   # equal ones may have different versions

    def __repr__(self) -> str:
        return (f"Scene('{self.robot.name}', objects={list(self.objects)}, "
                f'attached={list(self.attached)})')

    # -- parts of changes -----------------------------------------------------------------

    def _admitted(self, item: SceneObject) -> SceneObject:
        """Check a new object; without a colour it gets that of the object it replaces."""
        instance(item, SceneObject, 'an object', InvalidSceneError)
        if item.id in self.robot.frame_names:
            raise InvalidSceneError(f"the id '{item.id}' is a frame of the robot: names must "
                                    'tell links and objects apart')
        if item.color:
            return item
        # the attached one's colour counts before that of one in the world
        held, old = self.attached.get(item.id), self.objects.get(item.id)
        color = (held and held.object.color) or (old and old.color)
        return replace(item, color=color) if color else item

    def _object(self, id: str) -> SceneObject:
        if isinstance(id, str) and id in self.objects:
            return self.objects[id]
        if isinstance(id, str) and id in self.attached:
            raise InvalidSceneError(f"object '{id}' is attached to '{self.attached[id].link}', "
                                    'not in the world: detach it first')
        raise UnknownObjectError(id, tuple(self.objects))

    def _held(self, id: str) -> AttachedObject:
        if isinstance(id, str) and id in self.attached:
            return self.attached[id]
        if isinstance(id, str) and id in self.objects:
            raise InvalidSceneError(f"object '{id}' is in the world, not attached")
        raise UnknownObjectError(id, tuple(self.attached))

    def _link(self, link: str) -> str:
        links = self.robot.tree.links
        if not isinstance(link, str) or link not in links:
            raise UnknownLinkError(link, links)
        return link


def _without(items: Mapping[K, V], gone: Iterable[K]) -> Mapping[K, V]:
    """Leave some out; the same mapping if that changes nothing."""
    gone = set(gone).intersection(items)
    return {id: item for id, item in items.items() if id not in gone} if gone else items


def _merged(mine: Mapping[K, V], base: Mapping[K, V],
            other: Mapping[K, V]) -> dict[K, V]:
    """Return a mapping with all by which `mine` differs from `base`."""
    changed = {name: value for name, value in mine.items() if base.get(name) is not value}
    return {**_without(other, base.keys() - mine.keys()), **changed}
