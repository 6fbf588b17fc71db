"""The pool of worker processes: assigns searches to them, and replaces dead workers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import wait
import pickle
import threading
import time
from typing import Any

from ros2_ik.core import Robot, Status
from ros2_ik.core.internals import pack
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.process import start_process
from ros2_ik.node.workers.serve import Answer, AnySearch, Result, serve, Worker

WORKER_CHECK_PERIOD = 0.1   # maximum time between checks for overdue searches and dead workers [s]
CANCEL_TIMEOUT = 0.2    # for the answer of a cancelled search [s]
# time from a search's deadline until the search fails without an answer [s]; its worker may first
# have to start, or to create the geometry of a robot
OVERDUE_TIME = 5.0
EXIT_TIMEOUT = 1.0      # for the fork server to report a process's exit code [s]

Done = Callable[[Answer | Exception], None]
OnProgress = Callable[[Any], None]


class UnansweredError(RequestError):
    """No worker runs, or none has answered a search that was cancelled or timed out."""


@dataclass(eq=False)
class OpenJob:
    """
    A search assigned to a worker; unanswered at `due` (steady clock [s]), it fails with `overdue`.

    `done` is called once, with the result or an exception; `on_progress` with each report.
    A job that failed as overdue (`ended`) stays with its worker, which is busy until it answers.
    """

    search: AnySearch
    done: Done
    on_progress: OnProgress
    due: float
    overdue: UnansweredError
    ended: bool = False


class WorkerHandle:
    """
    A worker process, the pipe to it, and its jobs by number.

    The worker counts as alive while its end of the pipe is open. Exit codes do not show this: the
    fork server, which reports them, may be dead.
    """

    def __init__(self) -> None:
        self.connection, worker_end = Pipe()
        self.process = start_process(serve, worker_end)
        # close the worker's end of the pipe here, so that it is open only in the worker
        worker_end.close()
        self.jobs: dict[int, OpenJob] = {}
        self._sender = ThreadPoolExecutor(1, 'to a worker')

    def call(self, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of Worker; no-op if the worker is dead."""
        # in a thread, since sending blocks while the pipe is full
        self._sender.submit(self.connection.send, (method, arguments))


class Pool:
    """
    `size` worker processes, and a thread that receives their messages.

    Methods must be called in the node's thread. Callbacks run in the pool's thread, except that
    `submit` itself calls `done` if it refuses a search.
    """

    def __init__(self, size: int, log: Any) -> None:
        self.size, self._log = size, log
        self._numbers = count()
        self._robot: tuple[object, ...] = ()    # arguments of Worker.set_robot, for later workers
        self._lock = threading.Lock()
        self._ending = False
        self._workers: list[WorkerHandle] = []
        # `_watch` tries again, and logs the error
        with suppress(OSError, EOFError):
            self._start_missing()
        threading.Thread(target=self._watch, name='workers', daemon=True).start()

    @property
    def open_jobs(self) -> int:
        """Number of searches that wait for an answer."""
        with self._lock:
            return sum(not job.ended for worker in self._workers for job in worker.jobs.values())

    def set_robot(self, robot: Robot, geometry: tuple[str, str]) -> None:
        """Send a robot to all present and future workers; see `Worker.set_robot`."""
        arguments = robot.key, pickle.dumps(robot), *geometry
        with self._lock:
            self._robot = arguments
            for worker in self._workers:
                worker.call(Worker.set_robot, *arguments)

    def submit(self, search: AnySearch, done: Done, on_progress: OnProgress) -> None:
        """
        Send a search to the worker with the fewest searches.

        `done` is called with the solution, or with a RequestError (FAILURE if the search raised or
        its worker died). `on_progress` is called with the best result so far, about ten times per
        second. The time budget of the search starts when the worker begins the search.
        """
        robot, number = search.problem.robot.without_added_frames, next(self._numbers)
        packed = pack(search, robot)
        with self._lock:
            if self._workers and not self._ending:
                worker = min(self._workers, key=lambda worker: len(worker.jobs))
                due, overdue = search.budget.deadline + OVERDUE_TIME, UnansweredError(
                    Status.TIMED_OUT, 'busy: no worker process had time to answer')
                worker.jobs[number] = OpenJob(search, done, on_progress, due, overdue)
                worker.call(Worker.begin, number, robot.key, packed, time.monotonic())
                return
        done(RequestError(Status.PREEMPTED, 'the node is being stopped') if self._ending else
             UnansweredError(Status.TIMED_OUT, 'busy: no worker process is running; try again'))

    def cancel(self, search: AnySearch | None = None) -> None:
        """
        End a search, or all searches if `search` is None.

        `done` is called with the best result, or with UnansweredError after CANCEL_TIMEOUT.
        """
        due = time.monotonic() + CANCEL_TIMEOUT
        with self._lock:
            for worker in self._workers:
                for number, job in worker.jobs.items():
                    if search in (None, job.search):
                        job.due, job.overdue = due, UnansweredError(
                            Status.PREEMPTED, 'cancelled; no worker process has answered')
                        worker.call(Worker.cancel, number)

    def end(self) -> None:
        """Cancel all searches, and refuse searches that are submitted later."""
        self._ending = True
        self.cancel()

    def kill(self) -> None:
        """Kill all workers: a worker that is computing in C++ may notice the closed pipe late."""
        with self._lock:
            for worker in self._workers:
                worker.process.kill()

    def _start_missing(self) -> None:
        """Start missing workers, and the fork server if it was killed."""
        while len(self._workers) < self.size and not self._ending:
            # not under the lock: this blocks until the fork server has started
            worker = WorkerHandle()
            with self._lock:
                if self._robot:
                    worker.call(Worker.set_robot, *self._robot)
                self._workers.append(worker)

    # -- in the pool's thread -------------------------------------------------------------

    def _watch(self) -> None:
        while True:
            try:
                self._receive()
                for job in self._overdue():
                    job.done(job.overdue)
                # last: if this raises, the answers of existing workers have been handled
                self._start_missing()
            # for example, the fork server died, or the limit of processes was reached
            except Exception as error:
                self._log.error('no worker process can be started or read: '
                                f'{type(error).__name__}: {error}', throttle_duration_sec=30.0)
                time.sleep(WORKER_CHECK_PERIOD)

    def _receive(self) -> None:
        """Wait up to WORKER_CHECK_PERIOD for messages of workers, and handle them."""
        ready = wait([worker.connection for worker in self._workers], WORKER_CHECK_PERIOD)
        for worker in [one for one in self._workers if one.connection in ready]:
            try:
                while worker.connection.poll():
                    self._handle(worker, worker.connection.recv())
            except (EOFError, OSError):
                self._remove(worker)

    def _overdue(self) -> list[OpenJob]:
        """Return the jobs that have become overdue, and mark them as `ended`."""
        now = time.monotonic()
        with self._lock:
            found = [job for worker in self._workers for job in worker.jobs.values()
                     if job.due <= now and not job.ended]
            for job in found:
                job.ended = True
        return found

    def _handle(self, worker: WorkerHandle, message: Result) -> None:
        job = worker.jobs[message.number]
        if message.is_final:
            with self._lock:
                del worker.jobs[message.number]
            if message.solution is None:
                self._log.error(f'a search failed:\n{message.failure}')
        # `done` has already been called with `overdue`
        if job.ended:
            return
        if not message.is_final:
            job.on_progress(message.solution)
        elif message.solution is not None:
            job.done(message.solution)
        else:
            job.done(RequestError(Status.FAILURE, message.failure.strip().splitlines()[-1]))

    def _remove(self, worker: WorkerHandle) -> None:
        """Remove a dead worker; its jobs fail."""
        with self._lock:
            self._workers.remove(worker)
        worker.process.join(EXIT_TIMEOUT)
        how = f'died (exit code {worker.process.exitcode})'
        # while the pool ends, workers may have died by `kill`
        if not self._ending:
            self._log.error(f'a worker process {how}; another one takes its place')
        for job in [job for job in worker.jobs.values() if not job.ended]:
            job.done(RequestError(Status.FAILURE, f'the worker process of this search {how}'))
