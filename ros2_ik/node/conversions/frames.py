"""Names of groups, tips and frames."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pinocchio as pin

from ros2_ik.core import (
    Configuration,
    Robot,
    shipped_robots,
    Status,
    UnknownFrameError,
    UnknownGroupError,
)
from ros2_ik.node.refusal import Refusal


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
    """Check a frame of the robot; raises Refusal."""
    name = name.removeprefix('/')
    try:
        robot.frame_id(name)
    except UnknownFrameError as error:
        tips = group_tips(robot, '')
        some = f'; tips of its groups: {", ".join(tips[:5])}' if tips else ''
        raise Refusal(Status.INVALID_LINK_NAME, f'{what}: {error}{some}') from None
    return name


def reference(robot: Robot, frame_id: str, lookup: Lookup) -> Reference:
    """Find the frame of a header: one of the robot, else of TF; raises Refusal."""
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
    """Find a frame that is `unknown` to the robot and its scene in TF; raises Refusal."""
    try:
        return lookup(robot, frame_id)
    except OldTransformError as error:
        raise Refusal(Status.FRAME_TRANSFORM_FAILURE, error) from None
    except LookupError as error:
        raise Refusal(Status.FRAME_TRANSFORM_FAILURE, f'{unknown}; {error}') from None


def default_group(robot: Robot, defaults: Any) -> str:
    """Group of requests that name none; '' if there is none. Raises Refusal."""
    return defaults.default_group or _shipped(robot, 'group')


def group_name(robot: Robot, name: str, defaults: Any) -> str:
    """Check a request's group, or choose it; '' stands for all joints that move the tips."""
    chosen = name or default_group(robot, defaults)
    try:
        return robot.group(chosen).name if chosen else ''
    except UnknownGroupError as error:
        what = '' if name else 'parameter default_group: '
        raise Refusal(Status.INVALID_GROUP_NAME, f'{what}{error}') from None


def wrong_default(robot: Robot, defaults: Any) -> str:
    """Say what is wrong with the parameters default_group and default_tip for a robot, or ''."""
    try:
        group_name(robot, '', defaults)
        if defaults.default_tip:
            link_name(robot, defaults.default_tip, 'parameter default_tip')
    except Refusal as refusal:
        return str(refusal)
    return ''


def default_tip(robot: Robot, group: str, defaults: Any) -> str:
    """
    Tip of requests that name none, for a group or ''.

    Raises Refusal with the choices when there are several or none.
    """
    own = group in ('', default_group(robot, defaults))
    tip = (defaults.default_tip or _shipped(robot, 'tip')) if own else ''
    if tip:
        return link_name(robot, tip, 'parameter default_tip')
    tips = group_tips(robot, group)
    if len(tips) == 1:
        return tips[0]
    where = f"group '{group}' has" if group else 'the robot has'
    choices = ', '.join(tips) if tips else 'any link'
    raise Refusal(Status.INVALID_LINK_NAME, f'no tip is named and {where} {len(tips)}; name one: '
                                            f'{choices}')


def group_tips(robot: Robot, group: str) -> tuple[str, ...]:
    """Tips of a group, or of all groups."""
    groups = [robot.group(group)] if group else robot.groups.values()
    return tuple(dict.fromkeys(tip for each in groups for tip in each.tips))


def _shipped(robot: Robot, what: str) -> str:
    """Look up what config/ says of the robot of this name, if the robot at hand has that."""
    shipped = shipped_robots().get(robot.name)
    if shipped is None or shipped.group not in robot.groups \
            or shipped.tip not in robot.frame_names:
        return ''
    return getattr(shipped, what) or ''
