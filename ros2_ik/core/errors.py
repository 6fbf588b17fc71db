"""
Errors for malformed input: unknown names, invalid values, contradictory arguments.

All errors derive from `IKError`, a ValueError. A search that finds no solution raises no error: it
returns an `IKSolution` with a `Status`.
"""

from collections.abc import Collection
import difflib

from ros2_ik.core.status import Status

__all__ = [
    'AmbiguousTipError', 'IKError', 'InvalidConstraintError', 'InvalidOptionError',
    'InvalidSceneError', 'InvalidStateError', 'InvalidTargetError', 'JointLimitError',
    'RobotDescriptionError', 'UnknownFrameError', 'UnknownGroupError', 'UnknownJointError',
    'UnknownLinkError', 'UnknownNameError', 'UnknownObjectError', 'UnmovedTipError',
]
# maximum number of valid names in one message
LISTED = 20


class IKError(ValueError):
    """
    Base class of all errors that this library raises for invalid input.

    The node and the command report an error as the status code `status`.
    """

    status = Status.INVALID_GOAL_CONSTRAINTS


class RobotDescriptionError(IKError):
    """An invalid or missing URDF, SRDF, xacro file or config file of a robot."""


class InvalidStateError(IKError):
    """Invalid joint values, such as NaN, a wrong count or a quaternion of norm zero."""

    status = Status.INVALID_ROBOT_STATE


class InvalidTargetError(IKError):
    """An invalid target pose, weight or tolerance."""


class UnmovedTipError(InvalidTargetError):
    """A target for a tip that no active joint moves."""

    status = Status.INVALID_LINK_NAME

    def __init__(self, tip: str, relative_to: str | None, group: str) -> None:
        of = f" of group '{group}'" if group else ''
        to = f" relative to '{relative_to}'" if relative_to else ''
        super().__init__(f"no active joint{of} moves '{tip}'{to}")


class AmbiguousTipError(InvalidTargetError):
    """A request that names no tip, for a group or robot with no tip or with several tips."""

    status = Status.INVALID_LINK_NAME

    def __init__(self, group: str, tips: Collection[str]) -> None:
        where = f"group '{group}' has" if group else 'the robot has'
        choices = ', '.join([*tips][:LISTED]) if tips else 'any link'
        super().__init__(f'no tip is given, and {where} {len(tips)} tips; name one: {choices}')


class InvalidConstraintError(IKError):
    """An invalid function, bound or weight."""


class InvalidOptionError(IKError):
    """An argument or option with an invalid value, or an option that the solver does not have."""


class InvalidSceneError(IKError):
    """An invalid shape, object or scene change."""


class JointLimitError(IKError):
    """A joint outside its limits."""

    def __init__(self, joint: str, value: float, lower: float, upper: float) -> None:
        super().__init__(f"joint '{joint}' is at {value:.6g}, outside its limits "
                         f'[{lower:.6g}, {upper:.6g}]')


class UnknownNameError(IKError):
    """An unknown name; the message lists similar valid names, else all names if at most 20."""

    kind = 'name'

    def __init__(self, name: str, valid: Collection[str], kind: str = '') -> None:
        super().__init__(unknown_name(kind or self.kind, name, valid))


class UnknownFrameError(UnknownNameError):
    kind = 'frame'
    status = Status.FRAME_TRANSFORM_FAILURE


class UnknownLinkError(UnknownFrameError):
    kind = 'link'
    status = Status.INVALID_LINK_NAME


class UnknownObjectError(UnknownNameError):
    kind = 'object'
    status = Status.INVALID_OBJECT_NAME


class UnknownJointError(UnknownNameError):
    kind = 'joint'


class UnknownGroupError(UnknownNameError):
    kind = 'group'
    status = Status.INVALID_GROUP_NAME


def nearest(name: object, valid: Collection[str]) -> str:
    """Return 'did you mean ...?' with up to three similar valid names, or ''."""
    text, spelled = str(name).casefold(), {one.casefold(): one for one in valid}
    close = difflib.get_close_matches(text, spelled, n=3, cutoff=0.6)
    # 'hand' should suggest 'panda_hand', which is too different for difflib; texts of one or two
    # letters are contained in too many names
    containing = sorted((one for one in spelled if len(text) > 2 and text in one), key=len)
    near = [spelled[one] for one in dict.fromkeys(close + containing)][:3]
    return 'did you mean ' + ' or '.join(f"'{n}'" for n in near) + '?' if near else ''


def counted(count: int, noun: str) -> str:
    """Return a number with a noun, which has an s appended unless the number is 1."""
    return f'{count} {noun}' + 's' * (count != 1)


def unknown_name(kind: str, name: str, valid: Collection[str]) -> str:
    """Return the message for an unknown name; see `UnknownNameError`."""
    hint = nearest(name, valid) or 'none is similar'
    if len(valid) <= LISTED and hint.startswith('none'):
        hint = 'valid: ' + ', '.join(sorted(valid)) if valid else 'there are none'
    # a phrase of several words has no simple plural
    count = counted(len(valid), kind) if kind.isalpha() else f'{len(valid)} in all'
    return f"unknown {kind} '{name}'; {hint} ({count})"
