"""The pool of worker processes: starts them, assigns searches, and replaces dead workers."""

from itertools import count
import math
import multiprocessing
from multiprocessing.connection import wait
import pickle
import threading
import time
from typing import Any

from ros2_ik.core import Robot, Status
from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.workers.jobs import AnySearch, Cancel, Job, Progress, Ready, Result, TakeRobot
from ros2_ik.node.workers.member import Done, Member, OpenJob, Tell, UnansweredError, WorkerError

CHECK_PERIOD = 0.5      # maximum time between checks for overdue searches and dead workers [s]
CANCEL_TIMEOUT = 0.15   # for the answer of a cancelled search [s]
OVERDUE = 1.0           # time after the deadline of a search until it fails unanswered [s]
# time without a ready worker, beyond the time budget of a search, until the search fails [s]
START_TIMEOUT = 5.0


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
        self._waiting: list[OpenJob] = []       # jobs without a worker
        self._ready_at = -math.inf              # last time with a ready worker, steady clock [s]
        self.replaced = 0                       # number of workers that died

    def start(self) -> None:
        """Start the worker processes, which are ready after about a second."""
        self._waker.send_bytes(b'.')
        threading.Thread(target=self._watch, name='workers', daemon=True).start()

    @property
    def open_jobs(self) -> int:
        """Number of open searches, without the watched ones that wait for a worker."""
        return sum(job.tell is None for job in self._waiting) + len(self._assigned())

    @property
    def busy(self) -> int:
        """Number of workers with at least one search."""
        return sum(bool(member.jobs) for member in self._members)

    def set_robot(self, robot: Robot, geometry: tuple[str, str] | None = None) -> None:
        """
        Send a robot to all workers, including workers that start later.

        Call this again with the options of the collision geometry when the geometry is ready, so
        that workers create it before a search needs it. Can be called in any thread.
        """
        message = TakeRobot(robot.key, pickle.dumps(robot), geometry)
        with self._lock:
            self._robot = message
            for member in self._members:
                member.send(message)

    def submit(self, search: AnySearch, done: Done, tell: Tell | None = None) -> int:
        """
        Queue a search for a worker; return its number, for `cancel`.

        `done` is called with the solution or a WorkerError; `tell` with the best result so far,
        about ten times per second. A search with `tell` waits for a worker without another such
        search. The time budget of a search starts when a worker starts the search.
        """
        job = Job(next(self._numbers), search.problem.robot.key, search.question(),
                  tell is not None, time.monotonic(), type(search))
        # at shutdown, answer with the best attempt of the node's own thread
        if self._ending:
            search.budget.cancel = lambda: True
            done(search.solution())
            return job.number
        with self._lock:
            self._waiting.append(OpenJob(job, search.budget.deadline - job.sent, done, tell))
        self._assign()
        return job.number

    def cancel(self, number: int) -> None:
        """End a search: `done` gets its best result, or UnansweredError after CANCEL_TIMEOUT."""
        self._cancel({number})

    def cancel_all(self) -> None:
        """End all searches as by `cancel`."""
        self._cancel({job.job.number for job in (*self._waiting, *self._assigned())})

    def end(self) -> None:
        """Cancel all searches, including searches that are submitted later."""
        self._ending = True
        self.cancel_all()

    def _cancel(self, numbers: set[int]) -> None:
        with self._lock:
            waiting = [job for job in self._waiting if job.job.number in numbers]
            self._waiting = [job for job in self._waiting if job not in waiting]
            for member in self._members:
                for number in numbers & member.jobs.keys():
                    job = member.jobs[number]
                    job.cancelled, job.due = True, time.monotonic() + CANCEL_TIMEOUT
                    member.send(Cancel(number))
        for job in waiting:
            job.end(UnansweredError(Status.PREEMPTED,
                                    'cancelled before a worker process was ready'))
        self._waker.send_bytes(b'.')

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
        """Send each waiting job to the ready worker with fewest jobs; start its time budget."""
        with self._lock:
            for job in [*self._waiting]:
                able = [member for member in self._members if member.accepts(job)]
                if able:
                    self._waiting.remove(job)
                    job.due = time.monotonic() + job.seconds + OVERDUE
                    member = min(able, key=lambda member: len(member.jobs))
                    member.jobs[job.job.number] = job
                    member.send(job.job)

    # -- in the pool's thread -------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closing.is_set():
            try:
                self._receive()
                self._end_overdue()
                self._assign()
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
                    self._handle(member, member.receive())
            except (EOFError, OSError):
                self._replace(member)

    def _handle(self, member: Member, message: Ready | Progress | Result) -> None:
        if isinstance(message, Progress):
            job = member.jobs[message.number]
            if job.tell and not job.ended:
                job.tell(message.solution)
        elif isinstance(message, Result):
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
        now = time.monotonic()
        if any(member.ready for member in self._members):
            self._ready_at = now
        with self._lock:
            late = [job for job in self._waiting
                    if now > max(self._ready_at, job.job.sent) + job.seconds + START_TIMEOUT]
            self._waiting = [job for job in self._waiting if job not in late]
        for job in (*late, *(job for job in self._assigned() if job.due <= now)):
            job.end_unanswered()
