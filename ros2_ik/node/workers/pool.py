"""The node's side: starts worker processes, hands out searches, replaces what dies."""

from collections.abc import Callable
from itertools import count
import math
import multiprocessing
from multiprocessing.connection import wait
import threading
import time
from typing import Any

from ros2_ik.core import Robot, Search
from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.workers.jobs import Begun, Cancel, Job, Progress, Result, TakeRobot
from ros2_ik.node.workers.member import (
    Done,
    LateError,
    Member,
    OpenJob,
    robot_message,
    Tell,
    UnansweredError,
    WorkerError,
)

CHECK = 0.5     # how often stuck workers are looked for [s]
GRACE = 0.03    # a worker that is told to end a search may take so long to answer [s]
LAST_GRACE = 0.15   # when the node ends: answers need time to arrive, too
SPARING = 30.0     # time from one attempt in vain to start them to the next, at most [s]
MAKING = 5.0   # and so long if it waits for what is made before it [s]
LATE = 1.0      # so long after its deadline a search that has not been answered for is [s]
RESTART = 1.0   # time from the start of a worker to that of the one in its place, at least [s]


class Pool:
    """
    `size` worker processes, and a thread that waits for what they say; another one starts them.

    The methods belong to one thread, the node's; `done` callbacks run in the pool's own.
    """

    def __init__(self, size: int, log: Any) -> None:
        self.size, self._log = size, log
        self._context: Any = multiprocessing.get_context('forkserver')
        self._numbers = count()
        self._robot: TakeRobot | None = None    # which also workers that start later receive
        self._lock = threading.Lock()
        self._wake, self._waker = self._context.Pipe(duplex=False)
        self._stopping = False
        self._closing = threading.Event()
        self._members: list[Member] = []
        self._vacant: list[float] = []   # from when on the places of lost ones may be filled
        self._waiting: list[OpenJob] = []
        self.replaced = 0
        self._looked = 0.0

    def start(self) -> None:
        """Start the processes; it takes a second until they work."""
        self._vacant = [0.0] * self.size
        for target, name in (self._watch, 'workers'), (self._keep_up, 'start of workers'):
            threading.Thread(target=target, name=name, daemon=True).start()

    @property
    def open_jobs(self) -> int:
        """Number of searches that have not been answered for."""
        return len(self._waiting) + sum(not job.ended for member in list(self._members)
                                        for job in list(member.jobs.values()))

    @property
    def busy(self) -> int:
        """Number of workers that have a search."""
        return sum(bool(member.jobs) for member in self._members)

    def set_robot(self, robot: Robot, geometry: tuple[str, str] | None = None) -> None:
        """
        Tell all workers of a robot, also those that start later.

        When its collision geometry is made, tell them again, with the options it was made with:
        they make it, too, before a search has to wait for it. This may be in any thread.
        """
        message = robot_message(robot, geometry)
        with self._lock:
            self._robot = message
            for member in self._members:
                member.send(message)

    def submit(self, search: Search, done: Done, tell: Tell | None = None) -> int:
        """
        Hand a search on; `done` gets its solution, or a WorkerError.

        `tell` gets the solution as it stands, about ten times a second. Gives the number for
        `cancel`.
        """
        job = Job(next(self._numbers), search.problem.robot.key, search.question(),
                  tell is not None, time.monotonic())
        if self._stopping:
            search.budget.cancel = lambda: True
            done(search.solution())
            return job.number
        with self._lock:
            self._waiting.append(OpenJob(job, search.budget.deadline, done, tell))
        self._hand_out()
        return job.number

    def _hand_out(self) -> None:
        """Give what waits to the workers with the fewest jobs; without workers, it waits on."""
        with self._lock:
            while self._waiting and self._members:
                open_job = self._waiting.pop(0)
                member = min(self._members, key=lambda m: (not m.ready, len(m.jobs)))
                member.jobs[open_job.job.number] = open_job
                member.send(open_job.job)

    def cancel(self, number: int) -> None:
        """
        Ask for the answer of a search at once.

        It comes within `GRACE`, or an UnansweredError does.
        """
        self._cancel(lambda job: job.job.number == number, GRACE)

    def cancel_all(self) -> None:
        """Ask for the answers of all searches at once, also of those that are still to come."""
        self._stopping = True
        self._cancel(lambda job: True, LAST_GRACE)

    def _cancel(self, chosen: Callable[[OpenJob], bool], grace: float) -> None:
        with self._lock:
            waiting = [job for job in self._waiting if chosen(job)]
            self._waiting = [job for job in self._waiting if job not in waiting]
            for member in self._members:
                for job in list(member.jobs.values()):
                    if chosen(job):
                        job.answer_by = time.monotonic() + grace
                        member.send(Cancel(job.job.number))
        for job in waiting:
            job.end(UnansweredError('cancelled before a worker process could be started'))
        self._waker.send_bytes(b'.')

    def close(self) -> None:
        """End all processes; open searches get no answer any more."""
        self._closing.set()
        self._waker.send_bytes(b'.')
        with self._lock:
            for member in self._members:
                member.kill()

    # -- in the thread that starts processes ----------------------------------------------

    def _keep_up(self) -> None:
        """Fill the places of workers, and have a fork server, also when it was killed."""
        pause = 0.0
        while not self._closing.wait(pause):
            try:
                ensure_fork_server()
                self._fill_places()
                pause = CHECK
            except Exception as error:   # a fork server that dies, too few processes allowed
                if self._closing.wait(CHECK):   # it died since the node ends
                    return
                pause = min(2 * pause + RESTART, SPARING)
                self._log.error(f'no worker process can be started, next attempt in {pause:.0f} s:'
                                f' {type(error).__name__}: {error}')

    def _fill_places(self) -> None:
        while self._vacant and min(self._vacant) <= time.monotonic():
            member = Member(self._context)   # waits for the fork server
            with self._lock:
                self._vacant.remove(min(self._vacant))
                if self._closing.is_set():
                    member.kill()
                    return
                if self._robot is not None:
                    member.send(self._robot)
                self._members.append(member)
            self._waker.send_bytes(b'.')

    # -- in the pool's thread -------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closing.is_set():
            try:
                self._listen()
                self._look_after()
                self._end_overdue()
                self._hand_out()
            except Exception as error:
                self._log.error(f'workers: {type(error).__name__}: {error}')
                time.sleep(CHECK)

    def _listen(self) -> None:
        """Take what workers say, and see which have died."""
        members = list(self._members)
        ends = [job.end_by(LATE) for job in self._open()]
        patience = max(0.02, min(CHECK, min(ends, default=math.inf) - time.monotonic()))
        ready = set(wait([self._wake, *(member.connection for member in members)], patience))
        while self._wake.poll():
            self._wake.recv_bytes()
        if self._closing.is_set():   # they were killed
            return
        for member in members:
            if member.connection in ready and not self._receive(member):
                self._leave(member)
                how = f'died{member.bury()}'
                self._report(how)
                for job in member.jobs.values():
                    job.end(WorkerError(f'the worker process of this search {how}'))

    def _open(self) -> list[OpenJob]:
        """Return the jobs of all workers that have not been answered for."""
        return [job for member in list(self._members) for job in list(member.jobs.values())
                if not job.ended]

    def _receive(self, member: Member) -> bool:
        """Take what a worker says; gives whether its pipe is still open."""
        try:
            while member.connection.poll():
                self._take(member, member.connection.recv())
        except (EOFError, OSError):
            return False
        return True

    def _take(self, member: Member, message: Any) -> None:
        member.hear(message)
        if isinstance(message, Begun):
            job = member.jobs[message.number]
            job.begun, job.deadline = True, message.deadline
        elif isinstance(message, Progress):
            job = member.jobs[message.number]
            if job.tell and not job.ended:
                job.tell(message.solution)
        elif isinstance(message, Result):
            self._end(member.jobs.pop(message.number), message)

    def _end(self, job: OpenJob, result: Result) -> None:
        if result.solution is not None:
            job.end(result.solution)
        else:
            self._log.error(f'a search failed:\n{result.failure}')
            job.end(WorkerError(result.failure.strip().splitlines()[-1]))

    def _look_after(self) -> None:
        """Kill stuck workers: they are replaced, and their searches fail."""
        now = time.monotonic()
        if now < self._looked + CHECK:
            return
        self._looked = now
        for member in list(self._members):
            if member.stuck:
                self._log.error('a worker process is stuck: killed')
                member.kill()

    def _leave(self, member: Member) -> None:
        with self._lock:
            self._members.remove(member)
            self._vacant.append(member.started + RESTART)
            self.replaced += 1

    def _report(self, how: str) -> None:
        self._log.error(f'a worker process {how}; another one takes its place')

    def _end_overdue(self) -> None:
        """Answer for what is not answered in time: no worker has come for it, or a slow one."""
        now = time.monotonic()
        waiting = {id(job) for member in list(self._members) for job in list(member.jobs.values())
                   if not job.begun and now >= job.end_by(LATE) and member.makes}
        for job in self._open():
            if now < job.end_by(MAKING if id(job) in waiting else LATE):
                continue
            if job.cancelled:
                job.end(UnansweredError('cancelled; its worker process is busy'))
            else:
                job.end(LateError('busy: its worker process had no time to answer'))
        with self._lock:
            starting = bool(self._vacant or self._members) and not any(
                member.ready for member in self._members)
            grace = MAKING if starting else 0.0
            late = [job for job in self._waiting if job.deadline + grace <= now]
            self._waiting = [job for job in self._waiting if job not in late]
        for job in late:
            job.end(LateError('busy: no worker process was there in time'))
