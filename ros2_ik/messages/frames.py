"""Names of groups, tips and frames."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pinocchio as pin

from ros2_ik.core import (
    Configuration,
    default_group,
    default_tip,
    group_tips,
    Robot,
    Status,
    UnknownFrameError,
    UnknownGroupError,
)
from ros2_ik.messages.request_error import RequestError


class OldTransformError(LookupError):
    """TF knows a frame, but only where it was too long ago."""


class Reference(NamedTuple):
    """
    A frame that poses are given in: one of the robot's (None: the root), and an offset in it.

    `loose_on` is the link that a frame of TF hangs on by transforms that are sent anew: whether
    it moves with that link is not known.
    """

    frame: str | None
    offset: pin.SE3 | None = None
    loose_on: str | None = None

    def placement(self, at: Configuration) -> pin.SE3 | None:
        """Return where it is in the root frame, None for the root frame itself."""
        if self.frame is None:
            return self.offset
        place = at.placement(self.frame)
        return place if self.offset is None else place * self.offset


Lookup = Callable[[Robot, str], Reference]   # finds a frame that is not the robot's; LookupError


def link_name(robot: Robot, name: str, what: str) -> str:
    """Check a frame of the robot; raises RequestError."""
    name = name.removeprefix('/')
    try:
        robot.frame_id(name)
    except UnknownFrameError as error:
        tips = group_tips(robot)
        some = f"; tips of robot '{robot.name}': {', '.join(tips[:5])}" if tips else ''
        raise RequestError(Status.INVALID_LINK_NAME, f'{what}: {error}{some}') from None
    return name


def reference(robot: Robot, frame_id: str, lookup: Lookup) -> Reference:
    """Find the frame of a header: one of the robot, else of TF; raises RequestError."""
    frame_id = frame_id.removeprefix('/')
    if frame_id in ('', robot.root_frame):
        return Reference(None)
    try:
        robot.frame_id(frame_id)
        return Reference(frame_id)
    except UnknownFrameError as unknown:
        return foreign_reference(robot, frame_id, lookup, unknown)


def foreign_reference(robot: Robot, frame_id: str, lookup: Lookup,
                      unknown: UnknownFrameError) -> Reference:
    """Find a frame that is `unknown` to the robot and its scene in TF; raises RequestError."""
    try:
        return lookup(robot, frame_id)
    except OldTransformError as error:
        raise RequestError(Status.FRAME_TRANSFORM_FAILURE, error) from None
    except LookupError as error:
        raise RequestError(Status.FRAME_TRANSFORM_FAILURE, f'{unknown}; {error}') from None


def group_name(robot: Robot, name: str, defaults: Any) -> str:
    """Check a request's group, or choose it; '' stands for all joints that move the tips."""
    chosen = name or default_group(robot, defaults)
    try:
        return robot.group(chosen).name if chosen else ''
    except UnknownGroupError as error:
        what = '' if name else 'parameter default_group: '
        raise RequestError(Status.INVALID_GROUP_NAME, f'{what}{error}') from None


def tip_name(robot: Robot, group: str, defaults: Any) -> str:
    """Choose the tip of a request that names none, for a group or ''; raises IKError."""
    return link_name(robot, default_tip(robot, group, defaults), 'parameter default_tip')


def wrong_default(robot: Robot, defaults: Any) -> str:
    """Say what is wrong with the parameters default_group and default_tip for a robot, or ''."""
    try:
        group_name(robot, '', defaults)
        if defaults.default_tip:
            link_name(robot, defaults.default_tip, 'parameter default_tip')
    except RequestError as refusal:
        return str(refusal)
    return ''
