"""A worker process and its jobs, as the node sees them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
import math
import os
from queue import SimpleQueue
import signal
import threading
from typing import Any

from ros2_ik.core import Status
from ros2_ik.node.workers.jobs import Answer, Cancel, Job, Progress, Ready, Result, TakeRobot
from ros2_ik.node.workers.serve import serve

AFTERMATH = 1.0  # longest wait for the exit code of a process, which the fork server reports [s]
UNKNOWN = 255    # the exit code when the fork server has died

Done = Callable[[Answer | Exception], None]
Tell = Callable[[Any], None]


class WorkerError(RuntimeError):
    """A search that failed in its worker, or whose worker died."""


class UnansweredError(WorkerError):
    """A search that was cancelled, or whose time is up, without an answer of its worker."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(eq=False)
class OpenJob:
    """
    A job of `seconds`; `done` is called once with its end, `tell` with its progress.

    It ends at `due` [s, steady clock], answered or not, once a worker has it.
    """

    job: Job
    seconds: float
    done: Done
    tell: Tell | None = None
    due: float = math.inf
    cancelled: bool = False
    ended: bool = False

    def end(self, answer: Answer | Exception) -> None:
        """Pass its end on, unless it has ended."""
        if not self.ended:
            self.ended = True
            self.done(answer)

    def end_unanswered(self) -> None:
        """End it without an answer."""
        self.end(UnansweredError(Status.PREEMPTED, 'cancelled; no worker process has answered')
                 if self.cancelled else UnansweredError(
                     Status.TIMED_OUT, 'busy: no worker process had time to answer'))


class Member:
    """
    A worker process, its pipe and its jobs by number.

    Sending never waits for it: a thread does that. It is alive as long as its end of the pipe is
    open: the fork server, which reports its end, may itself have been killed.
    """

    def __init__(self, context: Any) -> None:
        self.connection, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        there.close()   # the worker's end alone keeps the pipe open
        self._owed, self._readies = 1, 0    # `Ready` messages, for its start and each robot
        self._outbox = SimpleQueue[TakeRobot | Job | Cancel | None]()
        self.jobs: dict[int, OpenJob] = {}
        threading.Thread(target=self._send_all, name='to a worker', daemon=True).start()

    @property
    def ready(self) -> bool:
        """True if a search would begin immediately."""
        return self._readies >= self._owed

    def accepts(self, job: OpenJob) -> bool:
        """Return whether it would begin a job now; it runs one job with `tell` at a time."""
        return self.ready and not (job.tell and any(
            other.tell and not other.ended for other in list(self.jobs.values())))

    def receive(self) -> Ready | Progress | Result:
        """Return the next message."""
        message: Ready | Progress | Result = self.connection.recv()
        self._readies += isinstance(message, Ready)
        return message

    def send(self, message: TakeRobot | Job | Cancel) -> None:
        """Send, unless it has died: whoever waits for its answers sees that, too."""
        self._owed += isinstance(message, TakeRobot)    # in other threads than `_readies`
        self._outbox.put(message)

    def _send_all(self) -> None:
        message = self._outbox.get()
        try:
            while message is not None:
                self.connection.send(message)
                message = self._outbox.get()
        except OSError:   # it has died
            while self._outbox.get() is not None:
                continue
        self.connection.close()

    def kill(self) -> None:
        """End a process that is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> str:
        """Close the pipe to a process that has ended, and return its exit code in words."""
        self._outbox.put(None)
        self.process.join(AFTERMATH)
        code = self.process.exitcode
        return '' if code in (None, UNKNOWN) else f' (exit code {code})'
