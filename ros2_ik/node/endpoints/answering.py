"""Service callbacks that always answer: exceptions become responses, and requests are counted."""

from collections import Counter, deque
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
import traceback
from typing import TYPE_CHECKING, TypeVar

from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from std_msgs.msg import Header

from ros2_ik.core import IKError, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.servo.messages import State
from ros2_ik.node.state.transforms import RETRY_PERIOD

if TYPE_CHECKING:
    from ros2_ik.node.endpoints.registry import Parts

N_SOLVE_TIMES = 1000   # number of recent solve times for the percentiles

PartsT = TypeVar('PartsT', bound='Parts')
Request = TypeVar('Request')
T = TypeVar('T')
Response = TypeVar('Response')
Fill = Callable[[PartsT, Request, Response], Coroutine[object, object, None] | None]
Answer = Callable[[PartsT, Request, Response], Coroutine[object, object, Response]]


class Statistics:
    """
    Counts of requests by service and status, and the durations of recent searches [s].

    `servo` is the last state that the servo's process reported.
    """

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.servo = State()
        self.seconds: deque[float] = deque(maxlen=N_SOLVE_TIMES)

    def count(self, service: str, status: int) -> None:
        """Count an answered request."""
        self.requests[service] += 1
        if status != Status.SUCCESS:
            self.failures[Status(status).name] += 1


def answering(service: str) -> Callable[[Fill[PartsT, Request, Response]],
                                        Answer[PartsT, Request, Response]]:
    """
    Decorate a method (self, request, response) that fills the response of a service.

    The decorated method is a coroutine that returns the response. If the method raises, a new
    response with the reason is returned: an exception in a callback would leave the client
    waiting, and would end the executor. A method that is no coroutine is called `when_settled`.
    The request is counted in `self.statistics` under `service`.
    """
    def decorate(fill: Fill[PartsT, Request, Response]) -> Answer[PartsT, Request, Response]:
        @wraps(fill)
        async def answer(self: PartsT, request: Request, response: Response) -> Response:
            try:
                if iscoroutinefunction(fill):
                    await fill(self, request, response)
                else:
                    await when_settled(self, lambda: fill(self, request, response))
                status = _status(response)
            except Exception as error:
                status, message = reason_of(error, self.node.get_logger())
                response = set_status(type(response)(), status, message)
                # Humble's MoveItErrorCodes has no message
                if not any(hasattr(one, 'message')
                           for one in (response, getattr(response, 'error_code', None))):
                    self.node.get_logger().error(f'{service}: {message}')
            self.statistics.count(service, status)
            return response
        return answer
    return decorate


async def when_settled(parts: 'Parts', read: Callable[[], T]) -> T:
    """
    Await the first robot and the collision geometry of a new one, then return `read()`.

    Shortly after the start of the TF subscription, `read` is retried if it raises RequestError for
    a missing transform.
    """
    while True:
        if not (parts.description.is_awaited or parts.scene.geometry.settling):
            try:
                return read()
            except RequestError as error:
                if not parts.transforms.may_arrive(error):
                    raise
        await parts.sleep(RETRY_PERIOD)


def header(node: Node, frame_id: str) -> Header:
    """Return a header with the current time of the node's clock."""
    return Header(stamp=node.get_clock().now().to_msg(), frame_id=frame_id)


def set_status(response: Response, status: Status, message: str) -> Response:
    """Write status and reason into a response, as far as it has fields; return the response."""
    # error_code: of MoveIt's types; its field message exists from Jazzy on
    for one in (response, getattr(response, 'error_code', None)):
        for field, value in (('status', int(status)), ('val', int(status)), ('message', message)):
            if hasattr(one, field):
                setattr(one, field, value)
    return response


def _status(response: object) -> int:
    """Return the status of a response of any type."""
    if hasattr(response, 'error_code'):
        status: int = response.error_code.val
        return status
    done = getattr(response, 'success', True)
    status = getattr(response, 'status', Status.SUCCESS if done else Status.CONTROL_FAILED)
    return status


def reason_of(error: Exception, log: RcutilsLogger) -> tuple[Status, str]:
    """Return status and reason of an error; an unexpected error is logged with its traceback."""
    if isinstance(error, IKError):
        # in one line: names in the message may have line breaks
        return error.status, ' '.join(str(error).split())
    log.error(''.join(traceback.format_exception(error))[-20_000:], throttle_duration_sec=1.0)
    return Status.FAILURE, f'{type(error).__name__}: {error}'
