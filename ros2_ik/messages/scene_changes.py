"""
CollisionObject and AttachedCollisionObject messages: changes of a Scene.

Their meaning is MoveIt's (moveit_core/planning_scene/src/planning_scene.cpp), but that a change
happens as a whole or not at all, and that nothing is dropped without a word. How
large it may be is said by parameters.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pinocchio as pin

from ros2_ik.core import Configuration, Mesh, Scene, SceneObject, ShapeInstance, UnknownFrameError
from ros2_ik.messages.frames import foreign_reference, Lookup
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import error_context, wrong
from ros2_ik.messages.shapes import Read, read_shapes, shape_poses


class SceneLimits(NamedTuple):
    """Largest numbers, each the value of the parameter `max_...` of its name."""

    scene_objects: int = 10_000
    scene_shapes: int = 2000
    scene_triangles: int = 2_000_000
    mesh_triangles: int = 1_000_000
    request_shapes: int = 100
    request_triangles: int = 20_000

    @classmethod
    def of(cls, parameters: Any) -> 'SceneLimits':
        """Read the parameters."""
        return cls(*(getattr(parameters, f'max_{name}') for name in cls._fields))

    def check(self, name: str, count: int, what: str) -> None:
        """Refuse a count above the limit of that name; `what` says what there is so much of."""
        most = getattr(self, name)
        if count > most:
            raise wrong(f'{what}; parameter max_{name} allows at most {most}')

    def check_message(self, message: Any) -> None:
        """Look at a CollisionObject before anything is made of it."""
        shapes = sum(len(getattr(message, kind)) for kind in ('primitives', 'meshes', 'planes'))
        self.check('scene_shapes', shapes, f'{shapes} shapes')
        for index, mesh in enumerate(message.meshes):
            count = len(mesh.triangles)
            self.check('mesh_triangles', count, f'meshes[{index}] has {count} triangles')

    def check_change(self, old: Scene, new: Scene) -> None:
        """Refuse a scene that is too large; one that has become smaller may be too large still."""
        before, after = _Size.of(old), _Size.of(new)
        for name, was, count in zip(_Size._fields, before, after, strict=True):
            if count > was:
                self.check(f'scene_{name}', count, f'the scene would have {count} {name}')

    def check_held(self, items: Any) -> None:
        """Look at the AttachedCollisionObjects of a request, which are made for it alone."""
        shapes = triangles = 0
        for item in items:
            self.check_message(item.object)
            shapes += sum(len(getattr(item.object, kind))
                          for kind in ('primitives', 'meshes', 'planes'))
            triangles += sum(len(mesh.triangles) for mesh in item.object.meshes)
        there = 'what is held for this request alone has'
        apply = 'apply_planning_scene takes more'
        self.check('request_shapes', shapes, f'{there} {shapes} shapes ({apply})')
        self.check('request_triangles', triangles, f'{there} {triangles} triangles ({apply})')


class _Size(NamedTuple):
    objects: int
    shapes: int
    triangles: int

    @classmethod
    def of(cls, scene: Scene) -> '_Size':
        parts = list(_all_parts(scene))
        return cls(len(scene.objects) + len(scene.attached), len(parts),
                   sum(len(part.shape.triangles) for part in parts
                       if isinstance(part.shape, Mesh)))


def _all_parts(scene: Scene) -> Iterator[ShapeInstance]:
    for item in scene.objects.values():
        yield from item.parts
    for held in scene.attached.values():
        yield from held.object.parts


ADD, REMOVE, APPEND, MOVE = range(4)
OPERATIONS = ('ADD', 'REMOVE', 'APPEND', 'MOVE')
DONE = ('added', 'removed', 'extended', 'moved')
DONE_HELD = ('attached', 'detached', 'extended')


class ConversionContext(NamedTuple):
    """
    Where things stand while a message is read.

    `at(joints)` gives the robot's configuration and raises RequestError if one of these joints is
    not known. `detail` stands for `Mesh.detail`; `note` takes what a person should know. `limits`
    say how large what is read may be.
    """

    at: Callable[[frozenset[str]], Configuration]
    lookup: Lookup
    detail: str
    note: Callable[[str], None]
    limits: SceneLimits = SceneLimits()


def changed_object(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    """Return the scene after a CollisionObject; raises RequestError."""
    operation = operation_of(message)
    with error_context(f"{OPERATIONS[operation]} of object '{message.id}'"):
        return _WORLD[operation](scene, message, now)


def changed_attached(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    """Return the scene after an AttachedCollisionObject; raises RequestError."""
    operation = operation_of(message.object)
    with error_context(f"{OPERATIONS[operation]} of attached object '{message.object.id}'"):
        return _ATTACHED[operation](scene, message, now)


def operation_of(message: Any) -> int:
    """Read the operation, which is bytes of length 1 in ROS; raises RequestError."""
    value = message.operation
    number = value[0] if isinstance(value, bytes) else int(value)
    if number not in range(len(OPERATIONS)):
        valid = ', '.join(f'{name} {i}' for i, name in enumerate(OPERATIONS))
        raise wrong(f"object '{message.id}': the operation is {number}; valid: {valid}")
    return number


def what_was_done(scene: Any) -> dict[str, list[str]]:
    """Name the objects that a PlanningScene message has changed, by what was done to them."""
    done: dict[str, list[str]] = {}
    for item in scene.robot_state.attached_collision_objects:
        every = f"all on '{item.link_name}'" if item.link_name else 'all'
        name = f"'{item.object.id}'" if item.object.id else every
        done.setdefault(DONE_HELD[operation_of(item.object)], []).append(name)
    for item in scene.world.collision_objects:
        name = f"'{item.id}'" if item.id else 'all'
        done.setdefault(DONE[operation_of(item)], []).append(name)
    return done


def frame_in_root(scene: Scene, frame_id: str, now: ConversionContext) -> pin.SE3:
    """Where a frame of robot, scene or TF stands in the root frame; raises RequestError."""
    robot, name = scene.robot, frame_id.removeprefix('/')
    if name in ('', robot.root_frame):
        return pin.SE3.Identity()
    movers = _movers(scene, name)
    try:
        return scene.frame_pose(name, now.at(movers) if movers else None)
    except UnknownFrameError as unknown:
        found = foreign_reference(robot, name, now.lookup, unknown)
        movers = robot.moving_joints(found.frame) if found.frame else frozenset()
        return found.placement(now.at(movers)) if found.frame else found.offset


def _movers(scene: Scene, frame: str) -> frozenset[str]:
    """Joints that move a frame of the robot or of what it holds."""
    robot = scene.robot
    if frame in robot.frame_names:
        return robot.moving_joints(frame)
    links = [held.link for held in scene.attached.values()
             if frame == held.id or frame.startswith(f'{held.id}/')]
    return frozenset[str]().union(*(robot.moving_joints(link) for link in links))


# -- in the world --------------------------------------------------------------------------

def _add(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    item = _object(message, now)
    return scene.add(item.with_pose(frame_in_root(scene, message.header.frame_id, now)
                                    * item.pose))


def _append(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    old = scene.objects.get(message.id)
    if old is None:
        return _add(scene, message, now)
    parts = (*old.parts, *_parts(_shapes(message, now)))
    return scene.add(replace(old, parts=parts, subframes=_subframes(message)))


def _move(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    if len(message.primitives) or len(message.meshes) or len(message.planes):
        now.note(f"the shapes in the MOVE of object '{message.id}' are not read")
    pose = frame_in_root(scene, message.header.frame_id, now) * read_pose(message.pose, 'pose')
    return scene.move(message.id, pose, part_poses=shape_poses(message) or None)


def _remove(scene: Scene, message: Any, _: ConversionContext) -> Scene:
    return scene.remove(message.id or None)


_WORLD = {ADD: _add, REMOVE: _remove, APPEND: _append, MOVE: _move}


# -- on links ------------------------------------------------------------------------------

def _attach(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    item, link = message.object, message.link_name.removeprefix('/')
    touch = [str(name) for name in message.touch_links]
    if not (len(item.primitives) or len(item.meshes) or len(item.planes)):
        at = now.at(_movers(scene, link)) if link in scene.robot.frame_names else None
        return scene.attach(item.id, link, touch, at)
    made = _object(item, now)
    place = _in_link(scene, item.header.frame_id, link, now)
    return scene.attach(made.with_pose(place * made.pose), link, touch)


def _append_attached(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    item = message.object
    held = scene.attached.get(item.id)
    if held is None:
        return _attach(scene, message, now)
    _check_link(held.link, message.link_name)
    old, pose = held.object, read_pose(item.pose, 'pose')
    place = old.pose if pose.isIdentity(0.0) else \
        _in_link(scene, item.header.frame_id, held.link, now) * pose
    more = replace(old, parts=(*old.parts, *_parts(_shapes(item, now))), pose=place,
                   subframes={**old.subframes, **_subframes(item)})
    return scene.attach(more, held.link, [*held.touch_links, *map(str, message.touch_links)])


def _detach(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    id, link = message.object.id, message.link_name.removeprefix('/')
    held = [item for item in scene.attached.values()
            if (not id or item.id == id) and (not link or item.link == link)]
    movers = frozenset[str]().union(*(_movers(scene, item.link) for item in held))
    for item in held:
        if item.id in scene.objects:
            now.note(f"the world has an object '{item.id}', which stays; the attached one is gone")
    return scene.detach(id or None, link or None, now.at(movers) if movers else None)


def _no_move(*_: Any) -> Scene:
    raise wrong('an attached object moves with its link; valid: ADD, APPEND, REMOVE')


_ATTACHED = {ADD: _attach, REMOVE: _detach, APPEND: _append_attached, MOVE: _no_move}


def _in_link(scene: Scene, frame_id: str, link: str, now: ConversionContext) -> pin.SE3:
    """Where a frame stands in a link; needs no joint values if that is the link itself."""
    if link not in scene.robot.frame_names or frame_id.removeprefix('/') == link:
        return pin.SE3.Identity()   # the scene refuses a link that is none
    movers = _movers(scene, link)
    T_root_link = scene.frame_pose(link, now.at(movers) if movers else None)
    return T_root_link.actInv(frame_in_root(scene, frame_id, now))


def _check_link(link: str, given: str) -> None:
    if given.removeprefix('/') not in ('', link):
        raise wrong(f"it is attached to '{link}', not to '{given}'")


# -- parts of both -------------------------------------------------------------------------

def _object(message: Any, now: ConversionContext) -> SceneObject:
    """Make the object in the frame of its header; one shape gives it a pose that it has not."""
    parts, pose = _parts(_shapes(message, now)), read_pose(message.pose, 'pose')
    if len(parts) == 1 and pose.isIdentity(0.0):
        pose, parts = parts[0].pose, [ShapeInstance(parts[0].shape)]
    return SceneObject(message.id, tuple(parts), pose, _subframes(message))


def _shapes(message: Any, now: ConversionContext) -> Read:
    now.limits.check_message(message)
    read = read_shapes(message, now.detail,
                       lambda text: now.note(f"object '{message.id}': {text}"))
    if not read:
        other = ('; ros2cli sends REMOVE as operation: [1], and 1 as ADD'
                 if operation_of(message) == ADD else '')
        raise wrong(f'it has no shapes{other}')
    return read


def _parts(shapes: Read) -> list[ShapeInstance]:
    return [ShapeInstance(shape, pose) for shape, pose in shapes]


def _subframes(message: Any) -> dict[str, pin.SE3]:
    names, poses = message.subframe_names, message.subframe_poses
    if len(names) != len(poses):
        raise wrong(f'{len(names)} subframe_names but {len(poses)} subframe_poses')
    found: dict[str, pin.SE3] = {}
    for name, pose in zip(names, poses, strict=True):
        if name in found:
            raise wrong(f"it has the subframe '{name}' twice")
        found[name] = read_pose(pose, f"the pose of subframe '{name}'")
    return found
