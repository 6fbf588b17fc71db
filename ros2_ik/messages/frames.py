"""Names of groups, tips and frames."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TYPE_CHECKING

import pinocchio as pin

from ros2_ik.core import Configuration, Robot, Scene, Status
from ros2_ik.core.errors import UnknownFrameError, UnknownGroupError
from ros2_ik.core.internals import default_group, default_tip, Defaults, group_tips
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import RequestError, wrong

if TYPE_CHECKING:
    from geometry_msgs.msg import PoseStamped

TOOL = 'tool'   # name of the frame that a request gives as its tool
SAME_POSE = 1e-6    # difference of two poses that is rounding: of matrix entries, and [m]


class OldTransformError(LookupError):
    """Raised for a frame of TF whose newest transform is too old."""


class Reference(NamedTuple):
    """
    A frame that poses are given in: one of the robot's (None: the root), and an offset in it.

    The offset is set for objects of the scene, subframes and TF frames: their pose in `frame`.

    `loose_on` is the link that a frame of TF hangs on by transforms of /tf: whether it moves with
    that link is not known.
    """

    frame: str | None
    offset: pin.SE3 | None = None
    loose_on: str | None = None

    def placement(self, at: Configuration) -> pin.SE3 | None:
        """Return its pose in the root frame, None for the root frame itself."""
        if self.frame is None:
            return self.offset
        place = at.placement(self.frame)
        return place if self.offset is None else place * self.offset

    def place(self, pose: pin.SE3) -> pin.SE3:
        """Return a pose given in this reference as a pose in `frame`."""
        return pose if self.offset is None else self.offset * pose


Lookup = Callable[[Robot, str], Reference]   # finds a frame that is not the robot's; LookupError


def link_name(robot: Robot, name: str, what: str, scene: Scene | None = None) -> str:
    """Check a frame of the robot; raises RequestError, which lists those of the scene, too."""
    name = name.removeprefix('/')
    try:
        robot.frame_id(name)
    except UnknownFrameError:
        error = UnknownFrameError(name, tuple(dict.fromkeys((
            *robot.frame_names, *(scene.frame_names if scene else ())))))
        tips = group_tips(robot)
        some = f"; tips of robot '{robot.name}': {', '.join(tips[:5])}" if tips else ''
        raise RequestError(Status.INVALID_LINK_NAME, f'{what}: {error}{some}') from None
    return name


def framed_robot(scene: Scene, names: Iterable[str]) -> Robot:
    """
    Return the robot with frames of its scene that are named, see `Scene.framed_robot`.

    Unknown names are passed over: `link_name` refuses them.
    """
    names = [name.removeprefix('/') for name in names if name]
    try:
        return scene.framed_robot(names)
    except UnknownFrameError:
        known = scene.frame_names
        return scene.framed_robot([name for name in names if name in known])


def changed_frame(names: Iterable[str], before: Scene, now: Scene) -> str:
    """
    Return which of the named frames of a scene is gone, or fixed elsewhere, `now`; '' if none.

    Names that are no frames of `before`, such as that of a request's tool, are passed over.
    """
    known = before.frame_names
    for name in [name for name in names if name in known]:
        try:
            link, pose = now.fixed_to(name)
        except UnknownFrameError:
            return f"'{name}' is no longer in the scene"
        link_before, pose_before = before.fixed_to(name)
        if link != link_before or not pose_before.actInv(pose).isIdentity(SAME_POSE):
            where = f" on link '{link_before}'" if link_before else ''
            return f"frame '{name}' is no longer where it was{where}"
    return ''


def has_tool(tool: 'PoseStamped') -> bool:
    """Return whether a request's PoseStamped `tool` is given: the empty one is none."""
    return bool(tool.header.frame_id) or not read_pose(tool.pose, 'tool').isIdentity(0.0)


def with_tool(tool: 'PoseStamped', scene: Scene, names: Iterable[str], group: str,
              defaults: Defaults) -> Robot:
    """
    Return the robot with the frames of its scene in `names`, and with the tool if it is given.

    The tool is a pose in its header's frame, by default the tip of the group. Raises IKError.
    """
    if not has_tool(tool):
        return framed_robot(scene, names)
    if TOOL in scene.frame_names:
        raise wrong(f"tool: robot or scene have a frame '{TOOL}' already; valid: that one as tip")
    on = tool.header.frame_id
    robot = framed_robot(scene, [on, *(name for name in names if name != TOOL)])
    link = link_name(robot, on, 'tool.header', scene) if on else tip_name(robot, group, defaults)
    return robot.with_frames({TOOL: (link, read_pose(tool.pose, 'tool'))})


def reference(robot: Robot, scene: Scene, frame_id: str, lookup: Lookup) -> Reference:
    """
    Find the frame of a header: one of the robot, of its scene, else of TF; raises RequestError.

    The robot may have more frames than that of the scene.
    """
    frame_id = frame_id.removeprefix('/')
    if frame_id in ('', robot.root_frame):
        return Reference(None)
    if frame_id in robot.frame_names:
        return Reference(frame_id)
    try:
        return Reference(*scene.fixed_to(frame_id))
    except UnknownFrameError as unknown:
        try:
            return lookup(scene.robot, frame_id)    # TF has none of the frames that are added
        except OldTransformError as error:
            raise RequestError(Status.FRAME_TRANSFORM_FAILURE, error) from None
        except LookupError as error:
            raise RequestError(Status.FRAME_TRANSFORM_FAILURE, f'{unknown}; {error}') from None


def group_name(robot: Robot, name: str, defaults: Defaults) -> str:
    """Check a request's group, or choose it; '' stands for all joints that move the tips."""
    chosen = name or default_group(robot, defaults)
    try:
        return robot.group(chosen).name if chosen else ''
    except UnknownGroupError as error:
        what = '' if name else 'parameter default_group: '
        raise RequestError(Status.INVALID_GROUP_NAME, f'{what}{error}') from None


def tip_name(robot: Robot, group: str, defaults: Defaults) -> str:
    """Choose the tip of a request that names none, for a group or ''; raises IKError."""
    return link_name(robot, default_tip(robot, group, defaults), 'parameter default_tip')
