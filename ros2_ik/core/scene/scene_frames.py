"""Frames of a scene: links, objects, their subframes, named frames of the world."""

from typing import Any, TYPE_CHECKING

import pinocchio as pin

from ros2_ik.core.errors import InvalidSceneError, UnknownFrameError
from ros2_ik.core.robot import Configuration, Robot

if TYPE_CHECKING:
    from ros2_ik.core.scene.scene import Scene
    from ros2_ik.core.scene.scene_object import SceneObject


def frame_pose(scene: 'Scene', frame: str | None, at: Configuration | None) -> Any:
    """
    Pose of a frame in the root frame, a new pinocchio.SE3; None is the root frame.

    A name is looked for among the robot's frames, the attached objects, the world's objects and
    the named frames, in this order; 'id/name' is a subframe. As in MoveIt a leading slash does
    not count. Raises UnknownFrameError, or InvalidSceneError when the frame moves with the robot
    and `at` is missing or of another robot.
    """
    if frame is None:
        return pin.SE3.Identity()
    link, T_link_frame = _find(scene, frame)
    return T_link_frame if link is None else _link_pose(scene.robot, link, at) * T_link_frame


def _find(scene: 'Scene', frame: str) -> tuple[str | None, Any]:
    """Return the robot's frame that a frame stands still on, None for the world, and its pose."""
    if not isinstance(frame, str):
        raise InvalidSceneError(f'a frame is a name, not {frame!r}')
    for name in (frame, frame[1:]) if frame.startswith('/') else (frame,):
        found = _look_up(scene, name)
        if found is not None:
            return found
    raise UnknownFrameError(frame, frame_names(scene))


def _look_up(scene: 'Scene', name: str) -> tuple[str | None, Any] | None:
    if name in scene.robot.frame_names:
        return name, pin.SE3.Identity()
    items: list[tuple[str | None, SceneObject]] = [
        *((held.link, held.object) for held in scene.attached.values()),
        *((None, item) for item in scene.objects.values())]
    for link, item in items:
        if item.id == name:
            return link, item.pose
    for link, item in items:    # ids and subframes may have slashes in them
        if name.startswith(f'{item.id}/') and name[len(item.id) + 1:] in item.subframes:
            return link, item.pose * item.subframes[name[len(item.id) + 1:]]
    return (None, scene.named[name].copy()) if name in scene.named else None


def frame_names(scene: 'Scene') -> list[str]:
    """All names that `frame_pose` knows."""
    items = [*(attached.object for attached in scene.attached.values()), *scene.objects.values()]
    return list(dict.fromkeys([
        *scene.robot.frame_names, *scene.named, *(item.id for item in items),
        *(f'{item.id}/{subframe}' for item in items for subframe in item.subframes)]))


def _link_pose(robot: Robot, link: str, at: Configuration | None) -> Any:
    if at is None:
        if robot.moving_joints(link):
            raise InvalidSceneError(f"frame '{link}' moves with the robot: say with `at` at which "
                                    'configuration it is meant')
        at = Configuration(robot, data=robot.scratch_data())
    elif not isinstance(at, Configuration):
        raise InvalidSceneError(f'at must be a Configuration, not {at!r}')
    elif at.robot is not robot and at.robot.key != robot.key:
        raise InvalidSceneError(f"at is a configuration of robot '{at.robot.name}', "
                                f"the scene is of '{robot.name}'")
    return at.placement(link)
