"""PlanningScene messages: a whole scene or a change of one, read and written."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from geometry_msgs.msg import Pose, TransformStamped
from moveit_msgs.msg import (
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

from ros2_ik.core import AllowedCollisions, AttachedObject, Configuration, Scene, SceneObject
from ros2_ik.core.internals import OCTOMAP, ShapeInstance
from ros2_ik.messages.allowed_collisions import matrix_message, read_matrix
from ros2_ik.messages.octomaps import read_octomap
from ros2_ik.messages.poses import fill_pose, fill_transform, placement, read_pose
from ros2_ik.messages.request_error import error_context, wrong
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.messages.scene_changes import (
    changed_attached,
    changed_object,
    check_size,
    ConversionContext,
    frame_in_root,
)
from ros2_ik.messages.shapes import write_part


class SceneState(NamedTuple):
    """A scene with the parts of its messages that `Scene` lacks: a name, the octomap's message."""

    scene: Scene
    name: str = ''
    octomap: object = None


def changed_scene(known: SceneState, message: PlanningScene, now: ConversionContext) -> SceneState:
    """
    Return the state after a PlanningScene message; raises RequestError.

    `now.at` has the joint values of the message's robot_state already.
    """
    scene, name = known.scene, known.name
    _check(scene, message)
    if not message.is_diff:
        scene, name = _emptied(scene, message.robot_state.is_diff), ''
    elif has_joints(message.robot_state) and not message.robot_state.is_diff:
        scene = _holding_nothing(scene)
    scene = _with_frames(scene, message.fixed_frame_transforms)
    scene = with_attached(scene, message.robot_state, now, 'robot_state.')
    scene = _with_allowed(scene, message)
    scene = _with_padding(scene, message)
    for index, item in enumerate(message.world.collision_objects):
        with error_context(f'world.collision_objects[{index}]'):
            scene = changed_object(scene, item, now)
    octomap = known.octomap if message.is_diff else None
    if message.world.octomap.octomap.id:
        with error_context('world.octomap'):
            scene = _with_octomap(scene, message.world.octomap, now)
        octomap = message.world.octomap.octomap
    scene = _with_colors(scene, message.object_colors)
    return SceneState(scene, message.name or name, octomap if OCTOMAP in scene.objects else None)


def has_joints(state: RobotState) -> bool:
    """Return whether a RobotState names any joint."""
    return bool(len(state.joint_state.name) or len(state.multi_dof_joint_state.joint_names))


def with_attached(scene: Scene, state: RobotState, now: ConversionContext, place: str) -> Scene:
    """Return the scene after the attached objects of a RobotState; raises RequestError."""
    for index, item in enumerate(state.attached_collision_objects):
        with error_context(f'{place}attached_collision_objects[{index}]'):
            scene = changed_attached(scene, item, now)
    return scene


def _check(scene: Scene, message: PlanningScene) -> None:
    """Refuse another robot, and a scene that is too large, unread."""
    if message.robot_model_name not in ('', scene.robot.name):
        raise wrong(f"robot_model_name is '{message.robot_model_name}'; the robot is "
                    f"'{scene.robot.name}'")
    with error_context('world.collision_objects'):
        check_size(message.world.collision_objects)


def _emptied(scene: Scene, keep_attached: bool) -> Scene:
    """Keep the fixed frames and, if wanted, attached objects; nothing is allowed."""
    if not keep_attached:
        return scene.clear().with_allowed(AllowedCollisions())
    for id in scene.objects:
        scene = scene.remove(id)
    scene = scene.with_padding(dict.fromkeys(scene.padding, 0.0))
    scene = scene.with_colors(dict.fromkeys(scene.colors))
    return scene.with_allowed(AllowedCollisions())


def _holding_nothing(scene: Scene) -> Scene:
    """Remove attached objects; unlike after a detach, they do not return to the world."""
    back = set(scene.attached) - set(scene.objects)
    allowed = scene.allowed
    scene = scene.detach(at=Configuration(scene.robot, scene.robot.neutral))
    for id in back:
        scene = scene.remove(id)
    return scene.with_allowed(allowed)


def _with_frames(scene: Scene, transforms: Iterable[TransformStamped]) -> Scene:
    """Add fixed transforms; in MoveIt, unlike in TF, header.frame_id names the new frame."""
    root = scene.robot.root_frame
    for index, item in enumerate(transforms):
        with error_context(f'fixed_frame_transforms[{index}]'):
            if item.child_frame_id.removeprefix('/') not in ('', root):
                raise wrong(f"child_frame_id is '{item.child_frame_id}'; it must be the robot's "
                            f"root frame, '{root}', and header.frame_id the new frame")
            transform = item.transform
            place = placement(transform.translation, transform.rotation, 'transform')
            if item.header.frame_id.removeprefix('/') != root:
                scene = scene.with_frames({item.header.frame_id.removeprefix('/'): place})
    return scene


def _with_allowed(scene: Scene, message: PlanningScene) -> Scene:
    with error_context('allowed_collision_matrix'):
        given = read_matrix(message.allowed_collision_matrix)
    if not message.is_diff:
        return scene.with_allowed(given)
    return scene.with_allowed(scene.allowed.updated(given)) if given.names else scene


def _with_padding(scene: Scene, message: PlanningScene) -> Scene:
    for index, item in enumerate(message.link_padding):
        with error_context(f'link_padding[{index}]'):
            scene = scene.with_padding({item.link_name: item.padding})
    for index, item in enumerate(message.link_scale):
        if item.scale not in (0.0, 1.0):   # 0: not set
            raise wrong(f"link_scale[{index}]: links are not scaled, but '{item.link_name}' is to "
                        f'be by {item.scale:g}; valid: 1; link_padding makes a link thicker')
    return scene


def _with_octomap(scene: Scene, message: Any, now: ConversionContext) -> Scene:
    octomap = message.octomap
    if octomap.id != 'OcTree':
        raise wrong(f"octomap.id is '{octomap.id}'; valid: OcTree")
    if not len(octomap.data):
        return scene.remove(OCTOMAP) if OCTOMAP in scene.objects else scene
    tree = read_octomap(octomap)
    origin = frame_in_root(scene, message.header.frame_id, now) \
        * read_pose(message.origin, 'origin')
    return scene.add(SceneObject(OCTOMAP, (ShapeInstance(tree),), origin))


def _with_colors(scene: Scene, colors: Iterable[ObjectColor]) -> Scene:
    for index, item in enumerate(colors):
        color = item.color
        with error_context(f'object_colors[{index}]'):
            scene = scene.with_colors({item.id: (color.r, color.g, color.b, color.a)})
    return scene


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
            _attached(held, header) for held in scene.attached.values()]
    if wanted & (Bits.WORLD_OBJECT_NAMES | Bits.WORLD_OBJECT_GEOMETRY):
        message.world.collision_objects = [
            _object(item, header) if wanted & Bits.WORLD_OBJECT_GEOMETRY
            else CollisionObject(id=item.id)
            for item in scene.objects.values() if item.id != OCTOMAP]
    if wanted & Bits.OCTOMAP and known.octomap is not None and OCTOMAP in scene.objects:
        message.world.octomap.header = header
        fill_pose(message.world.octomap.origin, scene.objects[OCTOMAP].pose)
        message.world.octomap.octomap = known.octomap
    if wanted & Bits.TRANSFORMS:
        message.fixed_frame_transforms = [_transform(name, pose, header)
                                          for name, pose in scene.frames.items()]
    if wanted & Bits.ALLOWED_COLLISION_MATRIX:
        message.allowed_collision_matrix = matrix_message(scene.allowed)
    if wanted & Bits.LINK_PADDING_AND_SCALING:
        message.link_padding = [LinkPadding(link_name=link, padding=padding)
                                for link, padding in scene.padding.items()]
    if wanted & Bits.OBJECT_COLORS:
        message.object_colors = _colors([*scene.objects.values(), *(
            held.object for held in scene.attached.values())])
    return message


def scene_diff(before: SceneState | None, after: SceneState, joints: dict[str, Any],
               header: Header) -> PlanningScene:
    """
    Return the diff from one scene to the next; `header` is in the root frame.

    It has the objects that differ. Where anything else differs, it is the whole scene, with the
    values of `joints`.
    """
    old, new = before.scene if before else None, after.scene
    if old is None or not _differ_in_objects(old, new):
        return scene_message(after, joints, EVERYTHING, header)
    message = PlanningScene(is_diff=True, name=after.name)
    message.robot_state.is_diff = True
    detached = old.attached.keys() - new.attached.keys()
    taken = [held for id, held in new.attached.items() if held is not old.attached.get(id)]
    message.robot_state.attached_collision_objects = [
        *(AttachedCollisionObject(object=_removed(id)) for id in sorted(detached)),
        *(_attached(held, header) for held in taken)]
    # to detach an object returns it to the world, to attach one takes it from there
    world = (old.objects.keys() | detached) - {held.id for held in taken}
    changed = [item for id, item in new.objects.items()
               if id not in world or item is not old.objects.get(id)]
    message.world.collision_objects = [
        *(_removed(id) for id in sorted(world - new.objects.keys())),
        *(_object(item, header) for item in changed if item.id != OCTOMAP)]
    message.object_colors = _colors([*changed, *(held.object for held in taken)])
    return message


def _differ_in_objects(old: Scene, new: Scene) -> bool:
    """Return whether two scenes differ in objects only, the octomap and the robot apart."""
    removed = (old.objects.keys() | old.attached.keys()) - new.objects.keys() - new.attached.keys()
    return (old.robot is new.robot
            and old.objects.get(OCTOMAP) is new.objects.get(OCTOMAP)
            and all(getattr(old, part) == getattr(new, part)
                    for part in ('named', 'allowed', 'padding'))
            and not new.allowed.names & removed)    # a client drops the entries of these


def _removed(id: str) -> CollisionObject:
    return CollisionObject(id=id, operation=CollisionObject.REMOVE)


def _attached(held: AttachedObject, header: Header) -> AttachedCollisionObject:
    return AttachedCollisionObject(
        link_name=held.link, touch_links=sorted(held.touch_links - {held.link}),
        object=_object(held.object, Header(stamp=header.stamp, frame_id=held.link)))


def _colors(items: Iterable[SceneObject]) -> list[ObjectColor]:
    colors = [(item.id, item.color) for item in items if item.color is not None]
    return [ObjectColor(id=id, color=ColorRGBA(r=r, g=g, b=b, a=a))
            for id, (r, g, b, a) in colors]


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
