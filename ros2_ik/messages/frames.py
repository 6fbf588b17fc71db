"""Resolution of the groups, tips and frames that a request names."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn, TYPE_CHECKING

import pinocchio as pin

from ros2_ik.core import Configuration, Robot, Scene, Status
from ros2_ik.core.errors import UnknownFrameError
from ros2_ik.core.internals import default_group, default_tip, Defaults
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import error_context, invalid, RequestError

if TYPE_CHECKING:
    from geometry_msgs.msg import PoseStamped

TOOL = 'tool'       # name of the frame that a request's `tool` adds


class Reference(NamedTuple):
    """Reference frame of a pose, placed at `offset` in the robot frame `frame` (None: root)."""

    frame: str | None
    offset: pin.SE3

    def placement(self, at: Configuration) -> pin.SE3:
        """Return the pose of the reference in the root frame."""
        return self.offset if self.frame is None else at.placement(self.frame) * self.offset


# function that looks up in TF a frame that robot and scene lack; raises LookupError
Lookup = Callable[[Robot, str], Reference]


def without_tf(reason: str) -> Lookup:
    """Return a Lookup that always raises LookupError, with the reason why TF is not used."""
    def lookup(robot: Robot, frame: str) -> NoReturn:
        raise LookupError(reason)
    return lookup


def link_name(robot: Robot, name: str, field: str, scene: Scene | None = None) -> str:
    """
    Check that a name is a frame of the robot; return the name without a leading slash.

    Raises RequestError with suggestions from robot and `scene`; `field` names the request's field.
    """
    name = name.removeprefix('/')
    if name not in robot.frame_names:
        known = dict.fromkeys((*robot.frame_names, *(scene.frame_names if scene else ())))
        raise RequestError(Status.INVALID_LINK_NAME,
                           f'{field}: {UnknownFrameError(name, tuple(known))}')
    return name


def framed_robot(scene: Scene, names: Iterable[str]) -> Robot:
    """
    Return the scene's robot with the scene frames in `names` added, see `Scene.framed_robot`.

    Unknown names are ignored here; `link_name` rejects them with a better error.
    """
    given = [name.removeprefix('/') for name in names]
    return scene.framed_robot([name for name in given if name not in scene.robot.frame_names
                               and name in scene.frame_names])


def frame_change_text(names: Iterable[str], before: Scene, now: Scene) -> str:
    """
    Describe the first frame of `names` that was removed or moved between two scenes, or return ''.

    Names that are not frames of `before` are ignored, such as the name of a request's tool.
    """
    for name in names:
        if name in before.frame_names and (
                name not in now.frame_names or before.fixed_to(name) != now.fixed_to(name)):
            return f"frame '{name}' was moved or removed"
    return ''


def with_tool(tool: 'PoseStamped', scene: Scene, names: Iterable[str], group: str,
              defaults: Defaults) -> tuple[Robot, str]:
    """
    Add scene frames in `names` and a request's tool to the scene's robot; return robot, tool name.

    The tool is fixed to the frame in its header, by default to the tip of the group. With an empty
    frame_id and the identity as pose, there is no tool, and '' is returned. Raises IKError.
    """
    p, quat, on = tool.pose.position, tool.pose.orientation, tool.header.frame_id
    if not on and (p.x, p.y, p.z, quat.x, quat.y, quat.z, quat.w) == (0, 0, 0, 0, 0, 0, 1):
        return framed_robot(scene, names), ''
    if TOOL in scene.frame_names:
        raise invalid(f"tool: robot or scene already has a frame '{TOOL}'; valid: another name "
                      'for that joint, link or object, or that frame as tip, without a tool')
    robot = framed_robot(scene, [on, *names])
    link = link_name(robot, on, 'tool.header', scene) if on else tip_name(robot, group, defaults)
    return robot.with_frames({TOOL: (link, read_pose(tool.pose, 'tool'))}), TOOL


def reference(robot: Robot, scene: Scene, frame_id: str, lookup: Lookup) -> Reference:
    """
    Find the frame of a header: in the robot, then in the scene, then in TF.

    `robot` is the scene's robot, possibly with added frames. Raises RequestError.
    """
    frame_id = frame_id.removeprefix('/')
    if frame_id in ('', robot.root_frame):
        return Reference(None, pin.SE3.Identity())
    if frame_id in robot.frame_names:
        return Reference(frame_id, pin.SE3.Identity())
    try:
        return Reference(*scene.fixed_to(frame_id))
    except UnknownFrameError as unknown:
        try:
            # pass the robot without added frames, which TF does not have
            return lookup(scene.robot, frame_id)
        except LookupError as error:
            raise RequestError(Status.FRAME_TRANSFORM_FAILURE, f'{unknown}; {error}') from None


def group_name(robot: Robot, name: str, defaults: Defaults) -> str:
    """Return the name of the group or default group, or '' if there is none."""
    if name:
        return robot.group(name).name
    chosen = default_group(robot, defaults)
    if chosen and chosen not in robot.groups:
        with error_context('parameter default_group'):
            robot.group(chosen)
    return chosen


def tip_name(robot: Robot, group: str, defaults: Defaults) -> str:
    """Return a group's default tip ('': the robot's) for requests without tips; raises IKError."""
    return link_name(robot, default_tip(robot, group, defaults), 'parameter default_tip')
