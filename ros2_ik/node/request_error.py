"""A question that is answered with a status and a reason instead of a search."""

from ros2_ik.core import IKError, Status


class RequestError(IKError):
    """Raised on the way of a request; the endpoint makes it the answer."""

    def __init__(self, status: Status, message: object) -> None:
        super().__init__(str(message))
        self.status = status
