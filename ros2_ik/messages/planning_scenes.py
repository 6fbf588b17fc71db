"""Conversion of PlanningScene messages, each of which describes a whole scene or a diff."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from geometry_msgs.msg import Pose, Transform, TransformStamped
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    LinkPadding,
    ObjectColor,
    PlanningScene,
    PlanningSceneComponents as Bits,
    RobotState,
)
import pinocchio as pin
from std_msgs.msg import ColorRGBA, Header

from ros2_ik.core import AllowedCollisions, Robot, Scene, SceneObject
from ros2_ik.core.internals import OCTOMAP, ShapeInstance
from ros2_ik.messages.poses import fill_pose, fill_transform, placement, read_pose
from ros2_ik.messages.request_error import error_context, invalid
from ros2_ik.messages.requests import read_matrix
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.messages.scene_changes import (
    changed_attached,
    changed_object,
    ConversionContext,
    frame_in_root,
)
from ros2_ik.messages.shapes import read_octomap, write_part


class SceneState(NamedTuple):
    """A scene, and the message contents that `Scene` does not store: name, octomap message."""

    scene: Scene
    name: str = ''
    octomap: object = None


def changed_scene(before: SceneState, message: PlanningScene,
                  context: ConversionContext) -> SceneState:
    """
    Return the state after a PlanningScene message; raises RequestError.

    `context.at` must already include the joint values of the message's robot_state.
    """
    scene, name, state = before.scene, before.name, message.robot_state
    if message.robot_model_name not in ('', scene.robot.name):
        raise invalid(f"robot_model_name is '{message.robot_model_name}'; the robot is "
                      f"'{scene.robot.name}'")
    if not message.is_diff:
        scene = copy_scene(scene, scene.robot, world=False, attached=state.is_diff)
        scene, name = scene.with_allowed(AllowedCollisions()), ''
    # as in MoveIt, a full robot state replaces the attached objects, even in a diff of the scene
    elif scene.attached and not state.is_diff and (
            state.joint_state.name or state.multi_dof_joint_state.joint_names):
        scene = copy_scene(scene, scene.robot, attached=False).with_allowed(scene.allowed)
    # frames first, because objects may be placed in them; colours last, because they name objects
    scene = _with_frames(scene, message.fixed_frame_transforms)
    scene = with_attached(scene, state, context, 'robot_state.')
    with error_context('allowed_collision_matrix'):
        matrix = read_matrix(message.allowed_collision_matrix)
    if matrix.names:
        scene = scene.with_allowed(scene.allowed.updated(matrix))
    scene = _with_padding(scene, message)
    for index, item in enumerate(message.world.collision_objects):
        with error_context(f'world.collision_objects[{index}]'):
            scene = changed_object(scene, item, context)
    octomap = before.octomap if message.is_diff else None
    if message.world.octomap.octomap.id:
        with error_context('world.octomap'):
            scene = _with_octomap(scene, message.world.octomap, context)
        octomap = message.world.octomap.octomap
    for index, item in enumerate(message.object_colors):
        color = item.color
        with error_context(f'object_colors[{index}]'):
            scene = scene.with_color(item.id, (color.r, color.g, color.b, color.a))
    return SceneState(scene, message.name or name, octomap if OCTOMAP in scene.objects else None)


def with_attached(scene: Scene, state: RobotState, context: ConversionContext,
                  prefix: str) -> Scene:
    """Return the scene with the attached objects of a RobotState applied; raises RequestError."""
    for index, item in enumerate(state.attached_collision_objects):
        with error_context(f'{prefix}attached_collision_objects[{index}]'):
            scene = changed_attached(scene, item, context)
    return scene


def copy_scene(source: Scene, robot: Robot, world: bool = True, attached: bool = True) -> Scene:
    """
    Return a scene of `robot` with the named frames, world and attached objects of another scene.

    `world` also copies the padding. The allowed collisions are the robot's. Raises IKError if
    the robot lacks a link, or has a frame with the id of an object.
    """
    scene = Scene(robot, guess_pairs=source.guess_pairs).with_frames(source.frames)
    # attached objects first: attaching one removes a world object of the same id
    for body in source.attached.values() if attached else ():
        scene = scene.attach(body.object, body.link, body.touch_links)
    for item in source.objects.values() if world else ():
        scene = scene.add(item)
    return scene.with_padding(source.padding) if world else scene


def _with_frames(scene: Scene, transforms: Iterable[TransformStamped]) -> Scene:
    """Add named frames; header.frame_id is the new frame, as in MoveIt (in TF, the parent)."""
    root = scene.robot.root_frame
    for index, item in enumerate(transforms):
        name, transform = item.header.frame_id.removeprefix('/'), item.transform
        with error_context(f'fixed_frame_transforms[{index}]'):
            if item.child_frame_id.removeprefix('/') not in ('', root):
                raise invalid(f"child_frame_id is '{item.child_frame_id}'; it must be the robot's "
                              f"root frame, '{root}', and header.frame_id the new frame")
            pose = placement(transform.translation, transform.rotation, 'transform')
            # MoveIt also sends the root frame, with the identity transform
            if name != root:
                scene = scene.with_frames({name: pose})
    return scene


def _with_padding(scene: Scene, message: PlanningScene) -> Scene:
    with error_context('link_padding'):
        scene = scene.with_padding({item.link_name: item.padding
                                    for item in message.link_padding})
    for index, item in enumerate(message.link_scale):
        # 0, the field's default, means that no scale is set
        if item.scale not in (0.0, 1.0):
            raise invalid(f"link_scale[{index}]: links are not scaled, but '{item.link_name}' has "
                          f'the scale {item.scale:g}; valid: 1; link_padding makes a link thicker')
    return scene


def _with_octomap(scene: Scene, message: Any, context: ConversionContext) -> Scene:
    octomap = message.octomap
    if octomap.id != 'OcTree':
        raise invalid(f"octomap.id is '{octomap.id}'; valid: OcTree")
    tree = read_octomap(octomap) if len(octomap.data) else None
    if tree is None:
        return scene.remove(OCTOMAP) if OCTOMAP in scene.objects else scene
    origin = frame_in_root(scene, message.header.frame_id, context) \
        * read_pose(message.origin, 'origin')
    return scene.add(SceneObject(OCTOMAP, (ShapeInstance(tree),), origin))


ALL_COMPONENTS = 2 ** 10 - 1    # all bits of PlanningSceneComponents


def scene_message(state: SceneState, joints: dict[str, Any], components: int,
                  header: Header) -> PlanningScene:
    """
    Return a message with the `components` of a scene (bits of PlanningSceneComponents, 0: all).

    `joints` are the known joint values, by name. The frame of `header` is the root frame.
    """
    scene, requested = state.scene, components or ALL_COMPONENTS
    message = PlanningScene(is_diff=False)
    if requested & Bits.SCENE_SETTINGS:
        message.name, message.robot_model_name = state.name, scene.robot.name
    if requested & (Bits.ROBOT_STATE | Bits.ROBOT_STATE_ATTACHED_OBJECTS):
        fill_state(message.robot_state, joints, joints)
        message.robot_state.joint_state.header = header
    if requested & Bits.ROBOT_STATE_ATTACHED_OBJECTS:
        message.robot_state.attached_collision_objects = [AttachedCollisionObject(
            link_name=body.link, touch_links=sorted(body.touch_links - {body.link}),
            object=_object(body.object, Header(stamp=header.stamp, frame_id=body.link)))
            for body in scene.attached.values()]
    if requested & (Bits.WORLD_OBJECT_NAMES | Bits.WORLD_OBJECT_GEOMETRY):
        message.world.collision_objects = [
            _object(item, header) if requested & Bits.WORLD_OBJECT_GEOMETRY
            else CollisionObject(id=item.id)
            for item in scene.objects.values() if item.id != OCTOMAP or state.octomap is None]
    if requested & Bits.OCTOMAP and state.octomap is not None and OCTOMAP in scene.objects:
        message.world.octomap.header = header
        fill_pose(message.world.octomap.origin, scene.objects[OCTOMAP].pose)
        message.world.octomap.octomap = state.octomap
    if requested & Bits.TRANSFORMS:
        message.fixed_frame_transforms = [TransformStamped(
            header=Header(stamp=header.stamp, frame_id=name), child_frame_id=header.frame_id,
            transform=fill_transform(Transform(), pin.SE3ToXYZQUAT(pose)))
            for name, pose in scene.frames.items()]
    if requested & Bits.ALLOWED_COLLISION_MATRIX:
        message.allowed_collision_matrix = matrix_message(scene.allowed)
    if requested & Bits.LINK_PADDING_AND_SCALING:
        message.link_padding = [LinkPadding(link_name=link, padding=padding)
                                for link, padding in scene.padding.items()]
    if requested & Bits.OBJECT_COLORS:
        message.object_colors = _colors([*scene.objects.values(), *(
            body.object for body in scene.attached.values())])
    return message


def scene_diff(before: SceneState | None, after: SceneState, joints: dict[str, Any],
               header: Header) -> PlanningScene:
    """
    Return a message that changes scene `before` to `after`; `header.frame_id` is the root frame.

    The message is a diff if the scenes differ only in world objects (not in the octomap), and no
    removed object is in the collision matrix; otherwise a whole scene with joint values `joints`.
    """
    old, new = before.scene.objects if before else {}, after.scene.objects
    removed = sorted(old.keys() - new.keys())
    # last condition: receivers of a diff would delete the matrix entries of removed objects
    if before is None or before.name != after.name or before.octomap is not after.octomap or any(
            getattr(before.scene, part) != getattr(after.scene, part)
            for part in ('robot', 'attached', 'named', 'allowed', 'padding')) \
            or old.get(OCTOMAP) is not new.get(OCTOMAP) or after.scene.allowed.names & {*removed}:
        return scene_message(after, joints, ALL_COMPONENTS, header)
    # scenes share unchanged objects, so objects are compared by identity
    changed = [item for id, item in new.items() if item is not old.get(id)]
    message = PlanningScene(is_diff=True, name=after.name, object_colors=_colors(changed))
    message.robot_state.is_diff = True
    message.world.collision_objects = [
        *(CollisionObject(id=id, operation=CollisionObject.REMOVE) for id in removed),
        *(_object(item, header) for item in changed)]
    return message


def matrix_message(matrix: AllowedCollisions) -> AllowedCollisionMatrix:
    """
    Return the message of a matrix: rows for all names that have an entry, and the defaults.

    The message has a value for each pair of names, from the defaults if the pair has no entry.
    """
    names, default_names = sorted(matrix.names), sorted(matrix.defaults)
    rows = [[matrix.allowed(name, other) for other in names] for name in names]
    return AllowedCollisionMatrix(
        entry_names=names, entry_values=[AllowedCollisionEntry(enabled=row) for row in rows],
        default_entry_names=default_names,
        default_entry_values=[matrix.defaults[name] for name in default_names])


def _colors(items: Iterable[SceneObject]) -> list[ObjectColor]:
    return [ObjectColor(id=item.id, color=ColorRGBA(**dict(zip('rgba', item.color, strict=True))))
            for item in items if item.color is not None]


def _object(item: SceneObject, header: Header) -> CollisionObject:
    message = CollisionObject(header=header, id=item.id, pose=fill_pose(Pose(), item.pose))
    for kind, shape, pose in (written for part in item.parts for written in write_part(part)):
        getattr(message, 'meshes' if kind == 'mesh' else f'{kind}s').append(shape)
        getattr(message, f'{kind}_poses').append(fill_pose(Pose(), pose))
    message.subframe_names = list(item.subframes)
    message.subframe_poses = [fill_pose(Pose(), pose) for pose in item.subframes.values()]
    return message
