"""The exception that rejects requests, and a check of field lengths."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ros2_ik.core import IKError, Status


class RequestError(IKError):
    """Raised while a request is read or solved; the endpoint answers with status and text."""

    def __init__(self, status: Status, message: object) -> None:
        super().__init__(str(message))
        self.status = status


@contextmanager
def error_context(location: str) -> Iterator[None]:
    """Convert IKErrors to RequestErrors with `location` as a prefix."""
    try:
        yield
    except IKError as error:
        raise RequestError(error.status, f'{location}: {error}') from None


def invalid(message: str) -> RequestError:
    """Return a RequestError for invalid content of a request."""
    return RequestError(Status.INVALID_GOAL_CONSTRAINTS, message)


def check_lengths(message: object, limits: Mapping[str, int]) -> None:
    """Raise RequestError if a field (list or string) is longer than its limit in `limits`."""
    # the limits bound the time to read a request, because reading blocks the node
    for field, limit in limits.items():
        if (length := len(getattr(message, field))) > limit:
            raise invalid(f'{field} has length {length}; at most {limit} are read')
