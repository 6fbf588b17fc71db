"""The node's handle of one worker process and its jobs."""

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

EXIT_TIMEOUT = 1.0      # for the fork server to report a process's exit code [s]
UNKNOWN = 255    # exit code that Python reports if the fork server has died

Done = Callable[[Answer | Exception], None]
Tell = Callable[[Any], None]


class WorkerError(RuntimeError):
    """A search failed in its worker, or its worker died."""


class UnansweredError(WorkerError):
    """A search was cancelled or timed out, and its worker did not answer."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(eq=False)
class OpenJob:
    """
    A job that has not ended, with a time budget of `seconds`.

    `done` is called once, with the result or an exception; `tell` with each progress report.
    `due` is the deadline of the answer on the steady clock [s], set when a worker gets the job.
    """

    job: Job
    seconds: float
    done: Done
    tell: Tell | None = None
    due: float = math.inf
    cancelled: bool = False
    ended: bool = False

    def end(self, answer: Answer | Exception) -> None:
        """Call `done` with the result or exception, unless the job has ended already."""
        if not self.ended:
            self.ended = True
            self.done(answer)

    def end_unanswered(self) -> None:
        """End the job with an UnansweredError."""
        self.end(UnansweredError(Status.PREEMPTED, 'cancelled; no worker process has answered')
                 if self.cancelled else UnansweredError(
                     Status.TIMED_OUT, 'busy: no worker process had time to answer'))


class Member:
    """
    A worker process, the pipe to it, and its jobs by number.

    A thread writes to the pipe, so that `send` never blocks. The worker counts as alive while its
    end of the pipe is open; the fork server, which reports exit codes, may itself be dead.
    """

    def __init__(self, context: Any) -> None:
        self.connection, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        # closed here, so that only the worker keeps its end of the pipe open
        there.close()
        # numbers of expected and received `Ready` messages: one for the start and each robot
        self._expected, self._received = 1, 0
        self._outbox = SimpleQueue[TakeRobot | Job | Cancel | None]()
        self.jobs: dict[int, OpenJob] = {}
        threading.Thread(target=self._send_all, name='to a worker', daemon=True).start()

    @property
    def ready(self) -> bool:
        """True if the worker has started and has loaded all robots sent to it."""
        return self._received >= self._expected

    def accepts(self, job: OpenJob) -> bool:
        """Return whether the worker can start a job now; it runs one job with `tell` at a time."""
        return self.ready and not (job.tell and any(
            other.tell and not other.ended for other in list(self.jobs.values())))

    def receive(self) -> Ready | Progress | Result:
        """Receive and return the worker's next message; raises EOFError if the worker has died."""
        message: Ready | Progress | Result = self.connection.recv()
        self._received += isinstance(message, Ready)
        return message

    def send(self, message: TakeRobot | Job | Cancel) -> None:
        """Queue a message for the worker; it is dropped if the worker has died."""
        # separate from the counter of `receive`, which runs in another thread
        self._expected += isinstance(message, TakeRobot)
        self._outbox.put(message)

    def _send_all(self) -> None:
        message = self._outbox.get()
        try:
            while message is not None:
                self.connection.send(message)
                message = self._outbox.get()
        # the worker has died: discard messages until `close`
        except OSError:
            while self._outbox.get() is not None:
                continue
        self.connection.close()

    def kill(self) -> None:
        """Kill the process if it is alive."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> str:
        """Close the pipe of an ended process; return ' (exit code N)', or '' if unknown."""
        self._outbox.put(None)
        self.process.join(EXIT_TIMEOUT)
        code = self.process.exitcode
        return '' if code in (None, UNKNOWN) else f' (exit code {code})'
