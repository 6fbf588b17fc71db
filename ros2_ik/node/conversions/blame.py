"""Refusals that say where in a message the mistake is."""

from collections.abc import Iterator
from contextlib import contextmanager

from ros2_ik.core import (
    IKError,
    InvalidStateError,
    Status,
    UnknownFrameError,
    UnknownLinkError,
    UnknownObjectError,
)
from ros2_ik.node.refusal import Refusal

_STATUSES = ((UnknownLinkError, Status.INVALID_LINK_NAME),
             (UnknownFrameError, Status.FRAME_TRANSFORM_FAILURE),
             (UnknownObjectError, Status.INVALID_OBJECT_NAME),
             (InvalidStateError, Status.INVALID_ROBOT_STATE),
             (IKError, Status.INVALID_GOAL_CONSTRAINTS))


@contextmanager
def blamed(place: str) -> Iterator[None]:
    """Turn core's errors into Refusals, and put the place in front of both."""
    try:
        yield
    except Refusal as refusal:
        raise Refusal(refusal.status, f'{place}: {refusal}') from None
    except IKError as error:
        status = next(number for kind, number in _STATUSES if isinstance(error, kind))
        raise Refusal(status, f'{place}: {error}') from None


def wrong(message: str, status: Status = Status.INVALID_GOAL_CONSTRAINTS) -> Refusal:
    """Make a Refusal, by default of something that makes no sense."""
    return Refusal(status, message)
