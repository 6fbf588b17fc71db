"""The answer when something went wrong that should not have."""

import traceback
from typing import Any

from ros2_ik.core import IKError, Status
from ros2_ik.node.workers import UnansweredError, WorkerError


def failed(response: Any, error: Exception, log: Any) -> Any:
    """
    Make a fresh response that says why there is no answer.

    A service callback must never raise: the client would wait for ever, and spinning would end.
    """
    response = type(response)()
    response.message = str(error)
    if isinstance(error, (IKError, UnansweredError)):
        response.status = int(error.status)
    elif isinstance(error, WorkerError):   # already in the log
        response.status = int(Status.FAILURE)
    else:
        response.status = int(Status.FAILURE)
        response.message = f'{type(error).__name__}: {error}'
        log.error(''.join(traceback.format_exception(error)), throttle_duration_sec=1.0)
    return response
