"""Refusals that say where in a message the mistake is."""

from collections.abc import Iterator
from contextlib import contextmanager

from ros2_ik.core import IKError, Status
from ros2_ik.node.refusal import Refusal


@contextmanager
def blamed(place: str) -> Iterator[None]:
    """Turn errors into Refusals with the place in front."""
    try:
        yield
    except IKError as error:
        raise Refusal(error.status, f'{place}: {error}') from None


def wrong(message: str, status: Status = Status.INVALID_GOAL_CONSTRAINTS) -> Refusal:
    """Make a Refusal, by default of something that makes no sense."""
    return Refusal(status, message)
