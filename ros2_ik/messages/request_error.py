"""Questions that are answered with a status and a reason instead of a search."""

from collections.abc import Iterator
from contextlib import contextmanager

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
