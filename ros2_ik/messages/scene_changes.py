"""
Application of CollisionObject and AttachedCollisionObject messages to a Scene.

The semantics follow MoveIt (moveit_core/planning_scene/src/planning_scene.cpp), but a message is
applied completely or not at all, and APPEND differs (docs/moveit.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from moveit_msgs.msg import AttachedCollisionObject, BoundingVolume, CollisionObject
import pinocchio as pin

from ros2_ik.core import Configuration, Scene, SceneObject
from ros2_ik.core.errors import UnknownLinkError
from ros2_ik.core.internals import ShapeInstance
from ros2_ik.messages.frames import Lookup, reference
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import error_context, invalid
from ros2_ik.messages.shapes import read_shapes, shape_poses

# limits for objects in requests (not in scene changes): converting these objects blocks the node
MAX_REQUEST_SHAPES = 100            # number of shapes of all objects
MAX_REQUEST_TRIANGLES = 20_000      # number of triangles of all meshes
ADD, REMOVE, APPEND, MOVE = range(4)
OPERATIONS = ('ADD', 'REMOVE', 'APPEND', 'MOVE')


class ConversionContext(NamedTuple):
    """
    Inputs to the conversion of a message, besides the scene.

    `at(joints)` returns the robot's configuration; it raises RequestError if the value of one of
    these joints is unknown. `lookup` finds TF frames. `detail` is the `Mesh.detail` of new meshes.
    """

    at: Callable[[frozenset[str]], Configuration]
    lookup: Lookup
    detail: str


def check_size(objects: Sequence[CollisionObject | BoundingVolume]) -> None:
    """Raise RequestError, before any conversion, if there are too many shapes or triangles."""
    # a BoundingVolume has no field `planes`
    n_shapes = sum(len(each.primitives) + len(each.meshes) + len(getattr(each, 'planes', ()))
                   for each in objects)
    n_triangles = sum(len(mesh.triangles) for each in objects for mesh in each.meshes)
    if n_shapes > MAX_REQUEST_SHAPES or n_triangles > MAX_REQUEST_TRIANGLES:
        raise invalid(f'there are {n_shapes} shapes with {n_triangles} triangles; at most '
                      f'{MAX_REQUEST_SHAPES} and {MAX_REQUEST_TRIANGLES} are allowed')


def changed_object(scene: Scene, message: CollisionObject, context: ConversionContext) -> Scene:
    """Return the scene with a CollisionObject message applied; raises RequestError."""
    operation = operation_of(message)
    with error_context(f"{OPERATIONS[operation]} of object '{message.id}'"):
        if operation == REMOVE:
            return scene.remove(message.id or None)
        if operation == APPEND and (old := scene.objects.get(message.id)):
            parts = (*old.parts, *_shapes(message, context))
            return scene.add(replace(old, parts=parts, subframes=_subframes(message)))
        T_root_frame = frame_in_root(scene, message.header.frame_id, context)
        if operation == MOVE:
            pose = T_root_frame * read_pose(message.pose, 'pose')
            return scene.move(message.id, pose, part_poses=shape_poses(message) or None)
        item = _object(message, context)
        return scene.add(item.with_pose(T_root_frame * item.pose))


def changed_attached(scene: Scene, message: AttachedCollisionObject,
                     context: ConversionContext) -> Scene:
    """Return the scene with an AttachedCollisionObject message applied; raises RequestError."""
    operation = operation_of(message.object)
    with error_context(f"{OPERATIONS[operation]} of attached object '{message.object.id}'"):
        if operation not in (ADD, REMOVE):
            raise invalid('attached objects cannot be moved or extended; valid: ADD, REMOVE')
        return (_attach if operation == ADD else _detach)(scene, message, context)


def operation_of(message: CollisionObject) -> int:
    """Return the operation of a message, ADD ... MOVE; raises RequestError."""
    # in rclpy, a field of type byte is a bytes object of length 1
    value = message.operation
    number = value[0] if isinstance(value, bytes) else int(value)
    if number not in range(len(OPERATIONS)):
        valid = ', '.join(f'{name} {i}' for i, name in enumerate(OPERATIONS))
        raise invalid(f"object '{message.id}': the operation is {number}; valid: {valid}")
    return number


def frame_in_root(scene: Scene, frame_id: str, context: ConversionContext) -> pin.SE3:
    """Return the pose of a frame (robot, scene or TF) in the root frame; raises RequestError."""
    found = reference(scene.robot, scene, frame_id, context.lookup)
    return found.offset if found.frame is None else found.placement(
        context.at(scene.robot.moving_joints(found.frame)))


# -- operations on attached objects --------------------------------------------------------

def _attach(scene: Scene, message: AttachedCollisionObject, context: ConversionContext) -> Scene:
    item, link, robot = message.object, message.link_name.removeprefix('/'), scene.robot
    if link not in robot.tree.links:
        raise UnknownLinkError(link, robot.tree.links)
    # a message without shapes attaches the world object of its id, at the present pose
    if not (len(item.primitives) or len(item.meshes) or len(item.planes)):
        at = context.at(robot.moving_joints(link))
        return scene.attach(item.id, link, message.touch_links, at)
    attached = _object(item, context)
    # a pose in the link's own frame needs no joint values
    if item.header.frame_id.removeprefix('/') != link:
        T_link_frame = frame_in_root(scene, link, context).actInv(
            frame_in_root(scene, item.header.frame_id, context))
        attached = attached.with_pose(T_link_frame * attached.pose)
    return scene.attach(attached, link, message.touch_links)


def _detach(scene: Scene, message: AttachedCollisionObject, context: ConversionContext) -> Scene:
    id, link = message.object.id, message.link_name.removeprefix('/')
    attached = [item for item in scene.attached.values()
                if (not id or item.id == id) and (not link or item.link == link)]
    # joints whose values are needed for the poses of the detached objects
    joints = frozenset[str]().union(*(scene.robot.moving_joints(item.link) for item in attached))
    return scene.detach(id or None, link or None, context.at(joints) if joints else None)


# -- parts of both messages ----------------------------------------------------------------

def _object(message: CollisionObject, context: ConversionContext) -> SceneObject:
    """Return the object of a message, with its pose in the frame of the header."""
    parts, pose = _shapes(message, context), read_pose(message.pose, 'pose')
    # as in MoveIt, the pose of a single shape becomes the object's pose if the object has none
    if len(parts) == 1 and pose.isIdentity(0.0):
        pose, parts = parts[0].pose, [ShapeInstance(parts[0].shape)]
    return SceneObject(message.id, tuple(parts), pose, _subframes(message))


def _shapes(message: CollisionObject, context: ConversionContext) -> list[ShapeInstance]:
    read = read_shapes(message, context.detail)
    if not read:
        hint = ('; ros2cli sends REMOVE as operation: [1], but operation: 1 as ADD'
                if operation_of(message) == ADD else '')
        raise invalid(f'it has no shapes{hint}')
    return [ShapeInstance(shape, pose) for shape, pose in read]


def _subframes(message: CollisionObject) -> dict[str, pin.SE3]:
    names, poses = message.subframe_names, message.subframe_poses
    if len(names) != len(poses):
        raise invalid(f'{len(names)} subframe_names but {len(poses)} subframe_poses')
    return {name: read_pose(pose, f"the pose of subframe '{name}'")
            for name, pose in zip(names, poses, strict=True)}
