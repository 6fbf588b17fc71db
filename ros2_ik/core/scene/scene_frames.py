"""Frames of a scene: links, objects, their subframes, named frames of the world."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ros2_ik.core.checks import instance
from ros2_ik.core.errors import InvalidSceneError, UnknownFrameError
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene.scene_object import SceneObject

Item = tuple[str | None, SceneObject]     # with the link that it is attached to, None: the world


def frame_pose(frame: str, at: Configuration | None, robot: Robot, items: Sequence[Item],
               named: Mapping[str, Any]) -> Any:
    """
    Pose of a frame in the root frame, a new pinocchio.SE3.

    A name is looked for among the robot's frames, the objects of `items`, their subframes
    'id/name' and the frames `named` in the root frame, in this order; as in MoveIt a leading
    slash does not count. Raises UnknownFrameError, or InvalidSceneError when the frame moves
    with the robot and `at` is missing or of another robot.
    """
    if not isinstance(frame, str):
        raise InvalidSceneError(f'a frame is a name, not {frame!r}')
    for name in (frame, frame.removeprefix('/')):
        if name in robot.frame_names:
            return _link_pose(robot, name, at)
        for known, link, pose in _fixed_frames(items, named):
            if known == name:
                return pose if link is None else _link_pose(robot, link, at) * pose
    raise UnknownFrameError(frame, [*robot.frame_names, *dict.fromkeys(
        name for name, *_ in _fixed_frames(items, named))])


def _fixed_frames(items: Sequence[Item], named: Mapping[str, Any]
                  ) -> Iterator[tuple[str, str | None, Any]]:
    """Yield names, the link that each is fixed to (None: the root), and the pose there."""
    yield from ((item.id, link, item.pose) for link, item in items)
    for link, item in items:
        for name, T_object_frame in item.subframes.items():
            yield f'{item.id}/{name}', link, item.pose * T_object_frame
    yield from ((name, None, pose.copy()) for name, pose in named.items())


def _link_pose(robot: Robot, link: str, at: Configuration | None) -> Any:
    if at is None:
        if robot.moving_joints(link):
            raise InvalidSceneError(f"frame '{link}' moves with the robot: say with `at` at which "
                                    'configuration it is meant')
        at = Configuration(robot, data=robot.scratch_data())
    elif instance(at, Configuration, 'at', InvalidSceneError).robot.key != robot.key:
        raise InvalidSceneError(f"at is a configuration of robot '{at.robot.name}', "
                                f"the scene is of '{robot.name}'")
    return at.placement(link)
