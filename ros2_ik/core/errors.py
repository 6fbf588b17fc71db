"""
Errors of questions that make no sense.

Not finding a solution is a `Status`, never an exception. All derive from `IKError`, a ValueError.
"""

from collections.abc import Collection
import difflib

from ros2_ik.core.status import Status

__all__ = [
    'AmbiguousTipError', 'IKError', 'InvalidConstraintError', 'InvalidOptionError',
    'InvalidSceneError', 'InvalidStateError', 'InvalidTargetError', 'JointLimitError',
    'RobotDescriptionError', 'UnknownFrameError', 'UnknownFunctionError', 'UnknownGroupError',
    'UnknownJointError', 'UnknownLinkError', 'UnknownNameError', 'UnknownObjectError',
    'UnknownRobotError', 'UnknownSolverError', 'UnmovedTipError',
]
LISTED = 20   # valid names that a message lists at most


class IKError(ValueError):
    """
    Base of every error this library raises on purpose.

    `status` is what a message or a command says for it.
    """

    status = Status.INVALID_GOAL_CONSTRAINTS


class RobotDescriptionError(IKError):
    """A URDF or SRDF that cannot become a robot."""


class InvalidStateError(IKError):
    """Joint values with NaN, of the wrong length, or a quaternion of norm zero."""

    status = Status.INVALID_ROBOT_STATE


class InvalidTargetError(IKError):
    """A target, weight or tolerance that no configuration could be compared with."""


class UnmovedTipError(InvalidTargetError):
    """A target whose tip no joint moves that may move."""

    status = Status.INVALID_LINK_NAME

    def __init__(self, tip: str, relative_to: str | None, group: str) -> None:
        of = f" of group '{group}'" if group else ''
        to = f" relative to '{relative_to}'" if relative_to else ''
        super().__init__(f"no active joint{of} moves '{tip}'{to}")


class AmbiguousTipError(InvalidTargetError):
    """No tip is named, and there are several `tips`, or none."""

    status = Status.INVALID_LINK_NAME

    def __init__(self, group: str, tips: Collection[str]) -> None:
        where = f"group '{group}' has" if group else 'the robot has'
        choices = ', '.join([*tips][:LISTED]) if tips else 'any link'
        super().__init__(f'no tip is named and {where} {len(tips)}; name one: {choices}')


class InvalidConstraintError(IKError):
    """A function, bound or weight that makes no sense."""


class InvalidOptionError(IKError):
    """An option out of its range, or one the chosen solver does not have."""


class InvalidSceneError(IKError):
    """A shape, object or scene change that makes no sense."""


class UnknownOptionError(InvalidOptionError):
    """An option that the solver does not have."""

    def __init__(self, option: str, solver: str, valid: Collection[str]) -> None:
        hint = nearest(option, valid) or f'valid: {", ".join(valid)}'
        super().__init__(f"solver '{solver}' has no option '{option}'; {hint}")


class JointLimitError(IKError):
    """A joint outside its limits."""

    def __init__(self, joint: str, value: float, lower: float, upper: float) -> None:
        super().__init__(f"joint '{joint}' is at {value:.6g}, outside its limits "
                         f'[{lower:.6g}, {upper:.6g}]')
        self.joint, self.value, self.lower, self.upper = joint, value, lower, upper


class UnknownNameError(IKError):
    """A name the robot does not have; the text lists the nearest ones that it has."""

    kind = 'name'

    def __init__(self, name: str, valid: Collection[str]) -> None:
        super().__init__(unknown_name(self.kind, name, valid))
        self.name = name


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


class UnknownFunctionError(UnknownNameError):
    kind = 'function'


class UnknownSolverError(UnknownNameError):
    kind = 'solver'


class UnknownRobotError(UnknownNameError):
    kind = 'robot'


def nearest(name: object, valid: Collection[str]) -> str:
    """Write which valid names are spelled like a name, or contain it; '' if none does."""
    text, spelled = str(name).casefold(), {one.casefold(): one for one in valid}
    close = difflib.get_close_matches(text, spelled, n=3, cutoff=0.6)
    holding = sorted((one for one in spelled if len(text) > 2 and text in one), key=len)
    near = [spelled[one] for one in dict.fromkeys(close + holding)][:3]
    return 'did you mean ' + ' or '.join(f"'{n}'" for n in near) + '?' if near else ''


def unknown_name(kind: str, name: str, valid: Collection[str]) -> str:
    """Write the sentence: a few valid names are all listed, of many only the nearest."""
    hint = nearest(name, valid) or 'none is spelled like it'
    if len(valid) <= LISTED and hint.startswith('none'):
        hint = 'valid: ' + ', '.join(sorted(valid)) if valid else 'there are none'
    count = f'{kind}s' if kind.isalpha() else 'in all'   # a plural s suits only a kind of one word
    return f"unknown {kind} '{name}'; {hint} ({len(valid)} {count})"
