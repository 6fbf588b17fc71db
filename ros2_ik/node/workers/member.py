"""A worker process as the node sees it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
import math
import os
from queue import SimpleQueue
import signal
import threading
import time
from typing import Any

from ros2_ik.core import Status
from ros2_ik.node.workers.jobs import Answer, Job, Ready, TakeRobot
from ros2_ik.node.workers.serve import serve

AFTERMATH = 1.0  # so long the fork server may take to tell of an end [s]
STUCK = 60.0     # a worker so long silent, with an answer overdue, is replaced [s]
UNKNOWN = 255    # the exit code when the fork server has died

Done = Callable[[Answer | Exception], None]
Tell = Callable[[Any], None]


class WorkerError(RuntimeError):
    """A search that failed in its worker, or whose worker died or was stuck."""


class UnansweredError(WorkerError):
    """A search that was cancelled, but whose worker has not yet said what it has found."""

    status = Status.PREEMPTED


class LateError(UnansweredError):
    """A search whose time is up, but whose worker has had too little of the computer to say so."""

    status = Status.TIMED_OUT


@dataclass(eq=False)
class OpenJob:
    """
    A job, and who is told of it: `done` of its end, once, and `tell` of its progress.

    It has `seconds`; `due` is when it ends, answered or not, once a worker has it [s, steady
    clock].
    """

    job: Job
    seconds: float
    due: float
    done: Done
    tell: Tell | None = None
    cancelled: bool = False
    ended: bool = False

    def end(self, answer: Answer | Exception) -> None:
        """Say what came of it, unless that has been said."""
        if not self.ended:
            self.ended = True
            self.done(answer)

    def end_unanswered(self) -> None:
        """Say that no worker has answered by the time it is due."""
        self.end(UnansweredError('cancelled; its worker process is busy') if self.cancelled
                 else LateError('busy: no worker process had time to answer'))


class Member:
    """
    One process, its pipe and the jobs it has, by number.

    Sending never waits for it: a thread does that. It is alive as long as its end of the pipe is
    open: the fork server, which would tell of its end, may itself have been killed.
    """

    def __init__(self, context: Any) -> None:
        self.connection, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        there.close()   # the worker's end alone keeps the pipe open
        self.heard = time.monotonic()
        self._robots = self._readies = 0   # sent to it, and heard from it: one more than robots
        self._outbox = SimpleQueue[Any]()
        self.jobs: dict[int, OpenJob] = {}
        threading.Thread(target=self._send_all, name='to a worker', daemon=True).start()

    @property
    def ready(self) -> bool:
        """Whether a search would begin at once."""
        return self._readies > self._robots

    @property
    def is_watched(self) -> bool:
        """Whether it has a search that somebody is told of as it goes on."""
        return any(job.tell and not job.ended for job in list(self.jobs.values()))

    def hear(self, message: Any) -> None:
        """Take any message as a sign of life."""
        self.heard = time.monotonic()
        self._readies += isinstance(message, Ready)

    def send(self, message: Any) -> None:
        """Send, unless it has died: whoever waits for its answers sees that, too."""
        self._robots += isinstance(message, TakeRobot)
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

    @property
    def stuck(self) -> bool:
        """Whether nothing has come from it for long, though it owes an answer."""
        owed = min((job.due for job in list(self.jobs.values())), default=math.inf)
        return time.monotonic() > max(owed, self.heard) + STUCK

    def kill(self) -> None:
        """End a process that is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def bury(self) -> str:
        """Give up a process that has ended, and return what is known of its end."""
        self._outbox.put(None)
        # only the fork server can tell, and may be gone
        self.process.join(AFTERMATH)
        code = self.process.exitcode
        return '' if code in (None, UNKNOWN) else f' (exit code {code})'
