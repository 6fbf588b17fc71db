"""Scenes as PlanningScene messages."""

from typing import Any

from geometry_msgs.msg import Pose, TransformStamped
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    LinkPadding,
    LinkScale,
    ObjectColor,
    PlanningScene,
    PlanningSceneComponents as Bits,
)
import pinocchio as pin
from std_msgs.msg import ColorRGBA, Header

from ros2_ik.core import OCTOMAP, Scene, SceneObject
from ros2_ik.node.conversions.planning_scenes import SceneState
from ros2_ik.node.conversions.poses import fill_pose, fill_transform
from ros2_ik.node.conversions.robot_states import fill_state
from ros2_ik.node.conversions.shapes import write_part

EVERYTHING = 2 ** 10 - 1


def scene_message(known: SceneState, joints: dict[str, Any], components: int,
                  header: Header) -> PlanningScene:
    """
    Return the `components` of a scene, 0 for all; `header` is in the root frame.

    `joints` are the values that are known, by name.
    """
    scene, wanted = known.scene, components or EVERYTHING
    message = PlanningScene(is_diff=False)
    if wanted & Bits.SCENE_SETTINGS:
        message.name, message.robot_model_name = known.name, scene.robot.name
    if wanted & (Bits.ROBOT_STATE | Bits.ROBOT_STATE_ATTACHED_OBJECTS):
        fill_state(message.robot_state, joints, joints)
        message.robot_state.joint_state.header = header
    if wanted & Bits.ROBOT_STATE_ATTACHED_OBJECTS:
        message.robot_state.attached_collision_objects = [
            AttachedCollisionObject(
                link_name=held.link, touch_links=sorted(held.touch_links - {held.link}),
                object=_object(held.object, Header(stamp=header.stamp, frame_id=held.link)))
            for held in scene.attached.values()]
    if wanted & (Bits.WORLD_OBJECT_NAMES | Bits.WORLD_OBJECT_GEOMETRY):
        message.world.collision_objects = [
            _object(item, header) if wanted & Bits.WORLD_OBJECT_GEOMETRY
            else CollisionObject(id=item.id)
            for item in scene.objects.values() if item.id != OCTOMAP]
    _fill_rest(message, known, wanted, header)
    return message


def _fill_rest(message: PlanningScene, known: SceneState, wanted: int, header: Header) -> None:
    scene = known.scene
    if wanted & Bits.OCTOMAP and known.octomap is not None and OCTOMAP in scene.objects:
        message.world.octomap.header = header
        fill_pose(message.world.octomap.origin, scene.objects[OCTOMAP].pose)
        for field in ('header', 'binary', 'id', 'resolution', 'data'):
            setattr(message.world.octomap.octomap, field, getattr(known.octomap, field))
    if wanted & Bits.TRANSFORMS:
        message.fixed_frame_transforms = [_transform(name, pose, header)
                                          for name, pose in scene.frames.items()]
    if wanted & Bits.ALLOWED_COLLISION_MATRIX:
        message.allowed_collision_matrix = _matrix(scene)
    if wanted & Bits.LINK_PADDING_AND_SCALING:
        message.link_padding = [LinkPadding(link_name=link, padding=padding)
                                for link, padding in scene.padding.items()]
        message.link_scale = [LinkScale(link_name=link, scale=scale)
                              for link, scale in scene.scale.items()]
    if wanted & Bits.OBJECT_COLORS:
        message.object_colors = [
            ObjectColor(id=id, color=ColorRGBA(r=rgba[0], g=rgba[1], b=rgba[2], a=rgba[3]))
            for id, rgba in scene.colors.items()]


def _object(item: SceneObject, header: Header) -> CollisionObject:
    message = CollisionObject(header=header, id=item.id, pose=_pose(item.pose))
    for kind, shape, pose in (piece for part in item.parts for piece in write_part(part)):
        getattr(message, 'meshes' if kind == 'mesh' else f'{kind}s').append(shape)
        getattr(message, f'{kind}_poses').append(_pose(pose))
    message.subframe_names = list(item.subframes)
    message.subframe_poses = [_pose(pose) for pose in item.subframes.values()]
    return message


def _pose(place: pin.SE3) -> Pose:
    pose = Pose()
    fill_pose(pose, place)
    return pose


def _transform(name: str, pose: pin.SE3, header: Header) -> TransformStamped:
    message = TransformStamped(header=Header(stamp=header.stamp, frame_id=name),
                               child_frame_id=header.frame_id)
    fill_transform(message.transform, pin.SE3ToXYZQUAT(pose))
    return message


def _matrix(scene: Scene) -> AllowedCollisionMatrix:
    names, values, default_names, default_values = scene.allowed.to_matrix()
    return AllowedCollisionMatrix(
        entry_names=names, entry_values=[AllowedCollisionEntry(enabled=row) for row in values],
        default_entry_names=default_names, default_entry_values=default_values)
