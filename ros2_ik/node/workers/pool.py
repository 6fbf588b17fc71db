"""The node's side of its workers: starts processes, hands out searches, replaces what dies."""

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

PERIOD = 0.5        # between two looks for overdue searches and missing workers, at most [s]
GRACE = 0.15        # longest time for the answer of a search that is cancelled [s]
OVERDUE = 1.0       # longest time for an answer after the deadline of its search [s],
STARTING = 5.0      # and of one for which no worker was ready [s]


class Pool:
    """
    `size` worker processes, and a thread that starts them and waits for their messages.

    The methods belong to one thread, the node's; `done` callbacks run in the pool's own.
    """

    def __init__(self, size: int, log: Any) -> None:
        self.size, self._log = size, log
        self._context = multiprocessing.get_context('forkserver')
        self._numbers = count()
        self._robot: TakeRobot | None = None    # which also workers that start later receive
        self._lock = threading.Lock()
        self._wake, self._waker = self._context.Pipe(duplex=False)
        self._ending = False
        self._closing = threading.Event()
        self._members: list[Member] = []
        self._waiting: list[OpenJob] = []       # for a worker that has started
        self._ready_at = -math.inf              # when one was ready last [s, steady clock]
        self.replaced = 0

    def start(self) -> None:
        """Start the processes; it takes a second until they work."""
        self._waker.send_bytes(b'.')
        threading.Thread(target=self._watch, name='workers', daemon=True).start()

    @property
    def open_jobs(self) -> int:
        """Number of searches not answered for, but for goals that wait for their turn."""
        return sum(job.tell is None for job in self._waiting) + len(self._handed_out())

    @property
    def busy(self) -> int:
        """Number of workers that have a search."""
        return sum(bool(member.jobs) for member in self._members)

    def set_robot(self, robot: Robot, geometry: tuple[str, str] | None = None) -> None:
        """
        Send a robot to all workers, also to those that start later.

        Call it again when its collision geometry is made, with the options it was made with: the
        workers make it, too, before a search has to wait for it. This may be in any thread.
        """
        message = TakeRobot(robot.key, pickle.dumps(robot), geometry)
        with self._lock:
            self._robot = message
            for member in self._members:
                member.send(message)

    def submit(self, search: AnySearch, done: Done, tell: Tell | None = None) -> int:
        """
        Hand a search on; `done` gets its solution, or a WorkerError.

        `tell` gets the solution as it stands, about ten times a second. A search with `tell` waits
        for a worker that has no other such one; its time begins then. Returns the number for
        `cancel`.
        """
        job = Job(next(self._numbers), search.problem.robot.key, search.question(),
                  tell is not None, time.monotonic(), type(search))
        if self._ending:
            search.budget.cancel = lambda: True
            done(search.solution())
            return job.number
        with self._lock:
            self._waiting.append(OpenJob(job, search.budget.deadline - job.sent, done, tell))
        self._hand_out()
        return job.number

    def cancel(self, number: int) -> None:
        """Ask for the answer of a search; within `GRACE` that, or an UnansweredError, comes."""
        self._cancel({number})

    def cancel_all(self) -> None:
        """Request the answers of all searches now."""
        self._cancel({job.job.number for job in (*self._waiting, *self._handed_out())})

    def end(self) -> None:
        """Ask for the answers of all searches, also of those that are still to come."""
        self._ending = True
        self.cancel_all()

    def _cancel(self, numbers: set[int]) -> None:
        with self._lock:
            waiting = [job for job in self._waiting if job.job.number in numbers]
            self._waiting = [job for job in self._waiting if job not in waiting]
            for member in self._members:
                for number in numbers & member.jobs.keys():
                    job = member.jobs[number]
                    job.cancelled, job.due = True, time.monotonic() + GRACE
                    member.send(Cancel(number))
        for job in waiting:
            job.end(UnansweredError(Status.PREEMPTED,
                                    'cancelled before a worker process was ready'))
        self._waker.send_bytes(b'.')

    def close(self) -> None:
        """End all processes; open searches get no answer."""
        self._closing.set()
        self._waker.send_bytes(b'.')
        with self._lock:
            for member in self._members:
                member.kill()

    def _handed_out(self) -> list[OpenJob]:
        """Return the jobs of all workers that have not been answered for."""
        return [job for member in list(self._members) for job in list(member.jobs.values())
                if not job.ended]

    def _hand_out(self) -> None:
        """Hand waiting jobs to the ready workers with the fewest jobs; their time begins then."""
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
                self._listen()
                self._end_overdue()
                self._hand_out()
                self._start_missing()   # last: the workers that there are go on without it
            except Exception as error:   # a fork server that dies, too few processes allowed
                if not self._closing.wait(PERIOD):
                    self._log.error(f'no worker process can be started or read: '
                                    f'{type(error).__name__}: {error}',
                                    throttle_duration_sec=30.0)

    def _start_missing(self) -> None:
        """Start the workers that are missing, and the fork server if it was killed."""
        while len(self._members) < self.size and not self._closing.is_set():
            ensure_fork_server()
            member = Member(self._context)   # waits for the fork server
            with self._lock:
                if self._robot is not None:
                    member.send(self._robot)
                self._members.append(member)

    def _listen(self) -> None:
        """Receive what workers send, and see which have died."""
        due = min((job.due for job in self._handed_out()), default=math.inf)
        patience = max(0.02, min(PERIOD, due - time.monotonic()))
        ready = set(wait([self._wake, *(member.connection for member in self._members)],
                         patience))
        while self._wake.poll():
            self._wake.recv_bytes()
        for member in [*self._members]:
            if self._closing.is_set():   # they were killed
                return
            try:
                while member.connection in ready and member.connection.poll():
                    self._take(member, member.receive())
            except (EOFError, OSError):
                self._replace(member)

    def _take(self, member: Member, message: Ready | Progress | Result) -> None:
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
        """Let the jobs of a worker that has died fail; another one is started."""
        with self._lock:
            self._members.remove(member)
            self.replaced += 1
        how = f'died{member.close()}'
        self._log.error(f'a worker process {how}; another one takes its place')
        for job in member.jobs.values():
            job.end(WorkerError(f'the worker process of this search {how}'))

    def _end_overdue(self) -> None:
        """Answer for overdue searches."""
        now = time.monotonic()
        if any(member.ready for member in self._members):
            self._ready_at = now
        with self._lock:
            late = [job for job in self._waiting
                    if now > max(self._ready_at, job.job.sent) + job.seconds + STARTING]
            self._waiting = [job for job in self._waiting if job not in late]
        for job in (*late, *(job for job in self._handed_out() if job.due <= now)):
            job.end_unanswered()
