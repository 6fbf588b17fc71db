"""Service callbacks that always answer: exceptions become responses, and requests are counted."""

from collections import Counter, deque
from collections.abc import Callable, Coroutine
from functools import wraps
import traceback
from typing import Any, TYPE_CHECKING, TypeVar

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from std_msgs.msg import Header

from ros2_ik.core import IKError, Status
from ros2_ik.node.servo.messages import State
from ros2_ik.node.workers import UnansweredError, WorkerError

if TYPE_CHECKING:
    from ros2_ik.node.endpoints.registry import Parts

N_SOLVE_TIMES = 1000   # number of recent solve times for the percentiles
MAX_REASON = 4000      # maximum length of the reason in an answer [characters]

PartsT = TypeVar('PartsT', bound='Parts')
Request = TypeVar('Request')
Response = TypeVar('Response')
Fill = Callable[[PartsT, Request, Response], Coroutine[object, object, float | None]]
Answer = Callable[[PartsT, Request, Response], Coroutine[object, object, Response]]


class Statistics:
    """
    Counts of requests by service and status, and the durations of recent searches.

    `busy` counts requests refused as busy. `servo` is the last state that the servo's process
    reported.
    """

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.busy = 0
        self.servo = State()
        self._seconds: deque[float] = deque(maxlen=N_SOLVE_TIMES)

    def count(self, service: str, status: int, seconds: float = 0.0) -> None:
        """Count an answered request; `seconds` is the duration of its search, 0 without one."""
        self.requests[service] += 1
        if status != Status.SUCCESS:
            self.failures[Status(status).name] += 1
        if seconds > 0:
            self._seconds.append(seconds)

    def percentiles(self) -> dict[int, float]:
        """Return the 50th, 90th and 99th percentiles of search durations [s]; {} without any."""
        return {percent: float(np.percentile(self._seconds, percent))
                for percent in (50, 90, 99) if self._seconds}


def answering(service: str) -> Callable[[Fill[PartsT, Request, Response]],
                                        Answer[PartsT, Request, Response]]:
    """
    Decorate a coroutine (self, request, response) that fills the response of a service.

    The decorated coroutine returns the response. If the coroutine raises, a new response with the
    reason is returned: an exception in a callback would leave the client waiting, and would end
    the executor. The request is counted in `self.statistics` under `service`, with the search
    duration [s] that the coroutine returns (None without a search).
    """
    def decorate(fill: Fill[PartsT, Request, Response]) -> Answer[PartsT, Request, Response]:
        @wraps(fill)
        async def answer(self: PartsT, request: Request, response: Response) -> Response:
            searched = status = None
            try:
                searched = await fill(self, request, response)
            except Exception as error:
                status, message = reason_of(error, self.node.get_logger())
                response = set_status(type(response)(), status, message)
                # Humble's MoveItErrorCodes has no message
                if not any(hasattr(one, 'message')
                           for one in (response, getattr(response, 'error_code', None))):
                    self.node.get_logger().error(f'{service}: {message}')
            self.statistics.count(service, _status(response) if status is None else status,
                                  searched or 0.0)
            return response
        return answer
    return decorate


def settled(fill: Callable[[PartsT, Request, Response], None]) -> Fill[PartsT, Request, Response]:
    """Decorate a method for `answering`: call it in its turn, once geometry and TF are ready."""
    @wraps(fill)
    async def wait(self: PartsT, request: Request, response: Response) -> None:
        await self.settled.read(lambda: fill(self, request, response))
    return wait


def header(node: Node, frame_id: str) -> Header:
    """Return a header with the current time of the node's clock."""
    return Header(stamp=node.get_clock().now().to_msg(), frame_id=frame_id)


def set_status(response: Response, status: Status, message: str) -> Response:
    """Write status and reason into a response, as far as it has fields; return the response."""
    code: Any = getattr(response, 'error_code', None)    # of MoveIt's types
    if code is not None:
        code.val = int(status)
        # from Jazzy on
        if hasattr(code, 'message'):
            code.message = message
    if hasattr(response, 'message'):
        response.message = message
    if hasattr(response, 'status'):
        response.status = int(status)
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
    if isinstance(error, (IKError, UnansweredError)):
        return error.status, _printable(str(error))
    # the pool has logged the traceback
    if isinstance(error, WorkerError):
        return Status.FAILURE, _printable(str(error))
    log.error(''.join(traceback.format_exception(error))[-20_000:], throttle_duration_sec=1.0)
    return Status.FAILURE, _printable(f'{type(error).__name__}: {error}')


def _printable(text: str) -> str:
    """Return a text shortened to MAX_REASON, with control characters escaped."""
    if len(text) > MAX_REASON:
        text = f'{text[:MAX_REASON]} [{len(text) - MAX_REASON} characters more]'
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text)
