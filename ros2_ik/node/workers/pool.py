"""The pool of worker processes: starts them, assigns searches, and replaces dead workers."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
import math
import multiprocessing
from multiprocessing.connection import wait
import os
import pickle
from queue import SimpleQueue
import signal
import threading
import time
from typing import Any

from ros2_ik.core import Robot, Status
from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.workers.serve import (
    Answer,
    AnySearch,
    Cancel,
    Job,
    Progress,
    Result,
    serve,
    TakeRobot,
)

CHECK_PERIOD = 0.5      # maximum time between checks for overdue searches and dead workers [s]
CANCEL_TIMEOUT = 0.15   # for the answer of a cancelled search [s]
# time beyond the time budget of a search until it fails unanswered; a worker may have to start,
# or to create the geometry of a robot [s]
OVERDUE = 5.0
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
    A job that has not ended; its answer is due at `due` on the steady clock [s].

    `done` is called once, with the result or an exception; `tell` with each progress report.
    """

    job: Job
    due: float
    done: Done
    tell: Tell | None = None
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
        self._outbox = SimpleQueue[TakeRobot | Job | Cancel | None]()
        self.send = self._outbox.put    # a message is dropped if the worker has died
        self.jobs: dict[int, OpenJob] = {}
        threading.Thread(target=self._send_all, name='to a worker', daemon=True).start()

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


class Pool:
    """
    `size` worker processes, and a thread that starts them and receives their messages.

    Call all methods but `set_robot` in the node's thread. Callbacks `done` and `tell` run
    in the pool's thread.
    """

    def __init__(self, size: int, log: Any) -> None:
        self.size, self._log = size, log
        self._context = multiprocessing.get_context('forkserver')
        self._numbers = count()
        self._robot: TakeRobot | None = None    # also for workers that start later
        self._lock = threading.Lock()
        self._wake, self._waker = self._context.Pipe(duplex=False)
        self._ending = False
        self._closing = threading.Event()
        self._members: list[Member] = []
        self._waiting: list[OpenJob] = []       # jobs from before the first worker process
        self.replaced = 0                       # number of workers that died

    def start(self) -> None:
        """Start the worker processes, which are ready after about a second."""
        self._waker.send_bytes(b'.')
        threading.Thread(target=self._watch, name='workers', daemon=True).start()

    @property
    def open_jobs(self) -> int:
        """Number of open searches without `tell`."""
        return sum(job.tell is None for job in (*self._waiting, *self._assigned()))

    def set_robot(self, robot: Robot, geometry: tuple[str, str] | None = None) -> None:
        """
        Send a robot to all workers, including workers that start later.

        Call this again with the options of the collision geometry when the geometry is ready, so
        that workers create it before a search needs it. Can be called in any thread.
        """
        message = TakeRobot(robot.key, pickle.dumps(robot), geometry)
        with self._lock:
            # the geometry of a robot that was replaced meanwhile
            if geometry and self._robot and self._robot.key != robot.key:
                return
            self._robot = message
            for member in self._members:
                member.send(message)

    def submit(self, search: AnySearch, done: Done, tell: Tell | None = None) -> int:
        """
        Send a search to the worker with the fewest searches; return its number, for `cancel`.

        `done` is called with the solution or a WorkerError; `tell` with the best result so far,
        about ten times per second. The time budget of the search starts in the worker.
        """
        job = Job(next(self._numbers), search.problem.robot.key, search.question(),
                  tell is not None, time.monotonic(), type(search))
        # at shutdown, answer with the best attempt of the node's own thread
        if self._ending:
            search.budget.cancel = lambda: True
            done(search.solution())
            return job.number
        with self._lock:
            self._waiting.append(OpenJob(job, search.budget.deadline + OVERDUE, done, tell))
            self._assign()
        return job.number

    def cancel(self, number: int | None = None) -> None:
        """
        End a search, or all searches if `number` is None.

        `done` gets the best result, or UnansweredError after CANCEL_TIMEOUT.
        """
        with self._lock:
            for job in [job for job in self._waiting if number in (None, job.job.number)]:
                self._waiting.remove(job)
                job.cancelled = True
                job.end_unanswered()
            for member in self._members:
                for job in [*member.jobs.values()]:
                    if number in (None, job.job.number):
                        job.cancelled, job.due = True, time.monotonic() + CANCEL_TIMEOUT
                        member.send(Cancel(job.job.number))
        self._waker.send_bytes(b'.')

    def end(self) -> None:
        """Cancel all searches, including searches that are submitted later."""
        self._ending = True
        self.cancel()

    def close(self) -> None:
        """Kill all processes; `done` is not called for open searches."""
        self._closing.set()
        self._waker.send_bytes(b'.')
        with self._lock:
            for member in self._members:
                member.kill()

    def _assigned(self) -> list[OpenJob]:
        """Return the open jobs of all workers."""
        return [job for member in list(self._members) for job in list(member.jobs.values())
                if not job.ended]

    def _assign(self) -> None:
        """Send each waiting job to the worker with the fewest jobs, if there is any worker."""
        while self._members and self._waiting:
            job = self._waiting.pop(0)
            member = min(self._members, key=lambda member: len(member.jobs))
            member.jobs[job.job.number] = job
            member.send(job.job)

    # -- in the pool's thread -------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closing.is_set():
            try:
                self._receive()
                self._end_overdue()
                # last, since this may raise and must not block the existing workers
                self._start_missing()
            # for example, the fork server died, or the limit of processes was reached
            except Exception as error:
                if not self._closing.wait(CHECK_PERIOD):
                    self._log.error(f'no worker process can be started or read: '
                                    f'{type(error).__name__}: {error}',
                                    throttle_duration_sec=30.0)

    def _start_missing(self) -> None:
        """Start missing workers, and the fork server if it was killed."""
        while len(self._members) < self.size and not self._closing.is_set():
            ensure_fork_server()
            # blocks until the fork server has started; not under the lock
            member = Member(self._context)
            with self._lock:
                if self._robot is not None:
                    member.send(self._robot)
                self._members.append(member)
                self._assign()

    def _receive(self) -> None:
        """Wait for messages of the workers until the next deadline; replace dead workers."""
        due = min((job.due for job in self._assigned()), default=math.inf)
        timeout = max(0.02, min(CHECK_PERIOD, due - time.monotonic()))
        ready = set(wait([self._wake, *(member.connection for member in self._members)],
                         timeout))
        # a byte in this pipe only ends the wait above
        while self._wake.poll():
            self._wake.recv_bytes()
        for member in [*self._members]:
            # `close` has killed the workers
            if self._closing.is_set():
                return
            try:
                while member.connection in ready and member.connection.poll():
                    self._handle(member, member.connection.recv())
            except (EOFError, OSError):
                self._replace(member)

    def _handle(self, member: Member, message: Progress | Result) -> None:
        if isinstance(message, Progress):
            job = member.jobs[message.number]
            if job.tell and not job.ended:
                job.tell(message.solution)
        else:
            job = member.jobs.pop(message.number)
            if message.solution is not None:
                job.end(message.solution)
            else:
                self._log.error(f'a search failed:\n{message.failure}')
                job.end(WorkerError(message.failure.strip().splitlines()[-1]))

    def _replace(self, member: Member) -> None:
        """Remove a dead worker, and end its jobs with WorkerError."""
        with self._lock:
            self._members.remove(member)
            self.replaced += 1
        how = f'died{member.close()}'
        self._log.error(f'a worker process {how}; another one takes its place')
        for job in member.jobs.values():
            job.end(WorkerError(f'the worker process of this search {how}'))

    def _end_overdue(self) -> None:
        """End searches whose worker did not answer in time, or that got no worker in time."""
        for job in (*self._waiting, *self._assigned()):
            if job.due <= time.monotonic():
                job.end_unanswered()
        with self._lock:
            self._waiting = [job for job in self._waiting if not job.ended]
