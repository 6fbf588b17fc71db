"""
CollisionObject and AttachedCollisionObject messages: changes of a Scene.

Their meaning is MoveIt's (moveit_core/planning_scene/src/planning_scene.cpp), but that a change
happens as a whole or not at all, and that nothing is dropped without a word.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TYPE_CHECKING

import pinocchio as pin

from ros2_ik.core import Configuration, Mesh, Scene, SceneObject
from ros2_ik.core.internals import ShapeInstance
from ros2_ik.messages.frames import Lookup, reference
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import error_context, wrong
from ros2_ik.messages.shapes import Read, read_shapes, shape_poses

if TYPE_CHECKING:
    from moveit_msgs.msg import AttachedCollisionObject, BoundingVolume, CollisionObject

MAX_SHAPES = 1000                # of a scene: each takes some 0.2 MB in each process of the node
MAX_TRIANGLES = 2_000_000        # of all meshes of a scene
MAX_REQUEST_SHAPES = 100         # that a request attaches for itself alone: they are converted
MAX_REQUEST_TRIANGLES = 20_000   # in the time of other requests


def check_size(objects: 'Sequence[CollisionObject | BoundingVolume]', shapes: int = MAX_SHAPES,
               triangles: int = MAX_TRIANGLES) -> None:
    """Refuse CollisionObjects, or BoundingVolumes, of more shapes or triangles, unread."""
    _check_counts(shapes, triangles, sum(
        len(getattr(each, kind, ())) for each in objects
        for kind in ('primitives', 'meshes', 'planes')),
        sum(len(mesh.triangles) for each in objects for mesh in each.meshes))


def check_scene_size(scene: Scene) -> None:
    """Refuse a scene that is too large."""
    items = [*scene.objects.values(), *(held.object for held in scene.attached.values())]
    shapes = [part.shape for item in items for part in item.parts]
    _check_counts(MAX_SHAPES, MAX_TRIANGLES, len(shapes), sum(
        len(shape.triangles) for shape in shapes if isinstance(shape, Mesh)))


def _check_counts(most_shapes: int, most_triangles: int, shapes: int, triangles: int) -> None:
    for what, most, count in (('shapes', most_shapes, shapes),
                              ('triangles', most_triangles, triangles)):
        if count > most:
            raise wrong(f'there are {count} {what}; at most {most} are taken')


ADD, REMOVE, APPEND, MOVE = range(4)
OPERATIONS = ('ADD', 'REMOVE', 'APPEND', 'MOVE')


class ConversionContext(NamedTuple):
    """
    Inputs to the conversion of a message besides the scene.

    `at(joints)` returns the robot's configuration and raises RequestError if one of these joints
    is not known. `detail` stands for `Mesh.detail`; `note` is called with notes for the user.
    """

    at: Callable[[frozenset[str]], Configuration]
    lookup: Lookup
    detail: str
    note: Callable[[str], None]


def changed_object(scene: Scene, message: 'CollisionObject', now: ConversionContext) -> Scene:
    """Return the scene after a CollisionObject; raises RequestError."""
    operation = operation_of(message)
    with error_context(f"{OPERATIONS[operation]} of object '{message.id}'"):
        return _WORLD[operation](scene, message, now)


def changed_attached(scene: Scene, message: 'AttachedCollisionObject',
                     now: ConversionContext) -> Scene:
    """Return the scene after an AttachedCollisionObject; raises RequestError."""
    operation = operation_of(message.object)
    with error_context(f"{OPERATIONS[operation]} of attached object '{message.object.id}'"):
        return _ATTACHED[operation](scene, message, now)


def operation_of(message: 'CollisionObject') -> int:
    """Read the operation, which is bytes of length 1 in ROS; raises RequestError."""
    value = message.operation
    number = value[0] if isinstance(value, bytes) else int(value)
    if number not in range(len(OPERATIONS)):
        valid = ', '.join(f'{name} {i}' for i, name in enumerate(OPERATIONS))
        raise wrong(f"object '{message.id}': the operation is {number}; valid: {valid}")
    return number


def frame_in_root(scene: Scene, frame_id: str, now: ConversionContext) -> pin.SE3:
    """Return the pose of a frame of robot, scene or TF in the root; raises RequestError."""
    found = reference(scene.robot, scene, frame_id, now.lookup)
    at = _link_pose(scene, found.frame, now) if found.frame else pin.SE3.Identity()
    return at if found.offset is None else at * found.offset


def _link_pose(scene: Scene, link: str, now: ConversionContext) -> pin.SE3:
    movers = scene.robot.moving_joints(link)
    return scene.frame_pose(link, now.at(movers) if movers else None)


# -- in the world --------------------------------------------------------------------------

def _add(scene: Scene, message: 'CollisionObject', now: ConversionContext) -> Scene:
    item = _object(message, now)
    return scene.add(item.with_pose(frame_in_root(scene, message.header.frame_id, now)
                                    * item.pose))


def _append(scene: Scene, message: 'CollisionObject', now: ConversionContext) -> Scene:
    old = scene.objects.get(message.id)
    if old is None:
        return _add(scene, message, now)
    parts = (*old.parts, *_parts(_shapes(message, now)))
    return scene.add(replace(old, parts=parts, subframes=_subframes(message)))


def _move(scene: Scene, message: 'CollisionObject', now: ConversionContext) -> Scene:
    if len(message.primitives) or len(message.meshes) or len(message.planes):
        now.note(f"the shapes in the MOVE of object '{message.id}' are not read")
    pose = frame_in_root(scene, message.header.frame_id, now) * read_pose(message.pose, 'pose')
    return scene.move(message.id, pose, part_poses=shape_poses(message) or None)


def _remove(scene: Scene, message: 'CollisionObject', _: ConversionContext) -> Scene:
    return scene.remove(message.id or None)


_WORLD = {ADD: _add, REMOVE: _remove, APPEND: _append, MOVE: _move}


# -- on links ------------------------------------------------------------------------------

def _attach(scene: Scene, message: 'AttachedCollisionObject', now: ConversionContext) -> Scene:
    item, link = message.object, message.link_name.removeprefix('/')
    touch = [str(name) for name in message.touch_links]
    if not (len(item.primitives) or len(item.meshes) or len(item.planes)):
        at = now.at(scene.robot.moving_joints(link)) if link in scene.robot.frame_names else None
        return scene.attach(item.id, link, touch, at)
    made = _object(item, now)
    place = _in_link(scene, item.header.frame_id, link, now)
    return scene.attach(made.with_pose(place * made.pose), link, touch)


def _detach(scene: Scene, message: 'AttachedCollisionObject', now: ConversionContext) -> Scene:
    id, link = message.object.id, message.link_name.removeprefix('/')
    held = [item for item in scene.attached.values()
            if (not id or item.id == id) and (not link or item.link == link)]
    movers = frozenset[str]().union(*(scene.robot.moving_joints(item.link) for item in held))
    for item in held:
        if item.id in scene.objects:
            now.note(f"the world has an object '{item.id}', which stays; the attached one is gone")
    return scene.detach(id or None, link or None, now.at(movers) if movers else None)


def _refuse(*_: Any) -> Scene:
    raise wrong('an attached object moves with its link, and its shapes stay; valid: ADD, REMOVE')


_ATTACHED = {ADD: _attach, REMOVE: _detach, APPEND: _refuse, MOVE: _refuse}


def _in_link(scene: Scene, frame_id: str, link: str, now: ConversionContext) -> pin.SE3:
    """Return the pose of a frame in a link; needs no joint values if it is the link itself."""
    if link not in scene.robot.frame_names or frame_id.removeprefix('/') == link:
        return pin.SE3.Identity()   # the scene refuses a link that is none
    return _link_pose(scene, link, now).actInv(frame_in_root(scene, frame_id, now))


# -- parts of both -------------------------------------------------------------------------

def _object(message: 'CollisionObject', now: ConversionContext) -> SceneObject:
    """Make the object in the frame of its header; one shape gives it a pose that it has not."""
    parts, pose = _parts(_shapes(message, now)), read_pose(message.pose, 'pose')
    if len(parts) == 1 and pose.isIdentity(0.0):
        pose, parts = parts[0].pose, [ShapeInstance(parts[0].shape)]
    return SceneObject(message.id, tuple(parts), pose, _subframes(message))


def _shapes(message: 'CollisionObject', now: ConversionContext) -> Read:
    check_size([message])
    read = read_shapes(message, now.detail,
                       lambda text: now.note(f"object '{message.id}': {text}"))
    if not read:
        other = ('; ros2cli sends REMOVE as operation: [1], and 1 as ADD'
                 if operation_of(message) == ADD else '')
        raise wrong(f'it has no shapes{other}')
    return read


def _parts(shapes: Read) -> list[ShapeInstance]:
    return [ShapeInstance(shape, pose) for shape, pose in shapes]


def _subframes(message: 'CollisionObject') -> dict[str, pin.SE3]:
    names, poses = message.subframe_names, message.subframe_poses
    if len(names) != len(poses):
        raise wrong(f'{len(names)} subframe_names but {len(poses)} subframe_poses')
    found: dict[str, pin.SE3] = {}
    for name, pose in zip(names, poses, strict=True):
        if name in found:
            raise wrong(f"it has the subframe '{name}' twice")
        found[name] = read_pose(pose, f"the pose of subframe '{name}'")
    return found
