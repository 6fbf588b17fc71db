"""RequestErrors that say where in a message the mistake is."""

from collections.abc import Iterator
from contextlib import contextmanager

from ros2_ik.core import IKError, Status
from ros2_ik.node.request_error import RequestError


@contextmanager
def error_context(place: str) -> Iterator[None]:
    """Turn errors into RequestErrors with the place in front."""
    try:
        yield
    except IKError as error:
        raise RequestError(error.status, f'{place}: {error}') from None


def wrong(message: str, status: Status = Status.INVALID_GOAL_CONSTRAINTS) -> RequestError:
    """Make a RequestError, by default of something that makes no sense."""
    return RequestError(status, message)
