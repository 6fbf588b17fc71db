"""Refusals of requests: an error with a status, and checks of lengths."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter

from ros2_ik.core import IKError, Status


class RequestError(IKError):
    """Raised on the way of a request; the endpoint makes it the answer."""

    def __init__(self, status: Status, message: object) -> None:
        super().__init__(str(message))
        self.status = status


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


def check_lengths(message: object, most: Mapping[str, int], place: str = '') -> None:
    """Raise RequestError for a list or text whose reading would keep the node from others."""
    for field, limit in most.items():
        if (length := len(attrgetter(field)(message))) > limit:
            raise wrong(f'{place}{field} has length {length}; at most {limit} are read')
