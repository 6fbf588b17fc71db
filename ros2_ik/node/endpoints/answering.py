"""Answers of services: each request is answered, whatever happens, and counted."""

from collections import Counter, deque
from collections.abc import Callable, Coroutine
from functools import wraps
import traceback
from typing import TYPE_CHECKING, TypeVar

from moveit_msgs.msg import MoveItErrorCodes
import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from std_msgs.msg import Header

from ros2_ik.core import IKError, Status
from ros2_ik.node.servo.messages import State
from ros2_ik.node.workers import UnansweredError, WorkerError

if TYPE_CHECKING:
    from ros2_ik.node.endpoints.parts import Parts

KEPT = 1000   # solve times that the percentiles are taken of
LONGEST = 4000   # reason [characters]

PartsT = TypeVar('PartsT', bound='Parts')
Request = TypeVar('Request')
Response = TypeVar('Response')
Fill = Callable[[PartsT, Request, Response], Coroutine[object, object, float | None]]
Answer = Callable[[PartsT, Request, Response], Coroutine[object, object, Response]]


class Statistics:
    """
    Requests by service and status, and the times of the last searches [s].

    `servo` is the state that the servo's process has reported last.
    """

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.busy = self.open_goals = 0
        self.servo: State | None = None
        self._seconds: deque[float] = deque(maxlen=KEPT)

    def count(self, service: str, status: int, seconds: float = 0.0) -> None:
        """Count a request that has been answered; `seconds` is 0 when nothing was searched."""
        self.requests[service] += 1
        if status != Status.SUCCESS:
            self.failures[Status(status).name] += 1
        if seconds > 0:
            self._seconds.append(seconds)

    def percentiles(self) -> dict[int, float]:
        """Return the times that 50, 90 and 99 % did not exceed [s]; empty without a search."""
        return {percent: float(np.percentile(self._seconds, percent))
                for percent in (50, 90, 99) if self._seconds}


def answering(service: str) -> Callable[[Fill[PartsT, Request, Response]],
                                        Answer[PartsT, Request, Response]]:
    """
    Decorate a coroutine (self, request, response) that fills a response, as a service's callback.

    It returns the response; where it raises, a fresh one that says why: a callback that raises
    would leave the client waiting and end spinning. Each is counted under the name of the
    service in `self.statistics`, with the seconds that the coroutine returns if it searched.
    """
    def dress(fill: Fill[PartsT, Request, Response]) -> Answer[PartsT, Request, Response]:
        @wraps(fill)
        async def answer(self: PartsT, request: Request, response: Response) -> Response:
            searched = status = None
            try:
                searched = await fill(self, request, response)
            except Exception as error:
                status, message = reason_of(error, self.node.get_logger())
                response = refusal(type(response)(), status, message)
                if not (hasattr(response, 'message') or hasattr(response, 'error_code')):
                    self.node.get_logger().error(f'{service}: {message}')
            self.statistics.count(service, _status(response) if status is None else status,
                                  searched or 0.0)
            return response
        return answer
    return dress


def header(node: Node, frame_id: str) -> Header:
    """Make a header stamped now."""
    return Header(stamp=node.get_clock().now().to_msg(), frame_id=frame_id)


def refusal(response: Response, status: Status, message: str) -> Response:
    """Write why there is no answer into a response, as far as its type has room for that."""
    if hasattr(response, 'error_code'):     # of MoveIt's types
        fill_error_code(response.error_code, status, message)
    if hasattr(response, 'message'):
        response.message = message
    if hasattr(response, 'status'):
        response.status = int(status)
    return response


def fill_error_code(code: MoveItErrorCodes, status: Status, message: str) -> None:
    """Write a status and its reason into MoveItErrorCodes, which before Jazzy have no message."""
    code.val = int(status)
    if hasattr(code, 'message'):
        code.message = message


def _status(response: object) -> int:
    """Return the status of an answer of any of the types."""
    if hasattr(response, 'error_code'):
        status: int = response.error_code.val
        return status
    done = getattr(response, 'success', True)
    status = getattr(response, 'status', Status.SUCCESS if done else Status.FAILURE)
    return status


def reason_of(error: Exception, log: RcutilsLogger) -> tuple[Status, str]:
    """Return status and sentence for an error; a defect goes to the log with its trace."""
    if isinstance(error, (IKError, UnansweredError)):
        return error.status, _sentence(str(error))
    if isinstance(error, WorkerError):   # already in the log
        return Status.FAILURE, _sentence(str(error))
    log.error(''.join(traceback.format_exception(error))[-20_000:], throttle_duration_sec=1.0)
    return Status.FAILURE, _sentence(f'{type(error).__name__}: {error}')


def _sentence(text: str) -> str:
    """Return one line for terminals and logs; a request may hold megabytes of any characters."""
    if len(text) > LONGEST:
        text = f'{text[:LONGEST]} [{len(text) - LONGEST} characters more]'
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text)
