"""The node's side: starts worker processes, hands out searches, replaces what dies."""

from itertools import count
import math
import multiprocessing
from multiprocessing.connection import wait
import threading
import time
from typing import Any

from ros2_ik.core import Robot, Search
from ros2_ik.node.workers.jobs import Cancel, Job, Progress, Ready, Result, TakeRobot
from ros2_ik.node.workers.member import (
    Done,
    Member,
    OpenJob,
    OVERDUE,
    robot_message,
    Tell,
    UnansweredError,
    WorkerError,
)

CHECK = 0.5     # how often stuck workers are looked for [s]
GRACE = 0.03    # a worker that is told to end a search may take so long to answer [s]
LAST_GRACE = 0.3   # when the node ends
RESTART = 1.0   # time from the start of a worker to that of the one in its place, at least [s]


class Pool:
    """
    `size` worker processes, and a thread that waits for what they say.

    The methods belong to one thread, the node's; `done` callbacks run in the pool's own. Nobody
    sends while holding the lock: a full pipe is only emptied by a worker that is listened to.
    """

    def __init__(self, size: int, log: Any) -> None:
        self.size, self._log = size, log
        self._context: Any = multiprocessing.get_context('forkserver')
        self._context.set_forkserver_preload(['ros2_ik.node.preload'])
        self._numbers = count()
        self._robot: TakeRobot | None = None
        self._lock = threading.Lock()
        self._wake, self._waker = self._context.Pipe(duplex=False)
        self._stopping = self._closing = False
        self._members: list[Member] = []
        self._vacant: list[float] = []   # from when on the places of lost ones may be filled
        self._waiting: list[OpenJob] = []
        self.replaced = 0
        self._thread = threading.Thread(target=self._watch, name='workers', daemon=True)

    def start(self) -> None:
        """Start the processes; it takes a second until they work."""
        self._vacant = [0.0] * self.size
        self._fill_places()
        self._thread.start()

    @property
    def open_jobs(self) -> int:
        """Number of searches that the workers have."""
        return len(self._waiting) + sum(len(member.jobs) for member in self._members)

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
            self._robot, members = message, list(self._members)
        for member in members:
            member.send(message)

    def submit(self, search: Search, done: Done, tell: Tell | None = None) -> int:
        """
        Hand a search on; `done` gets its solution, or a WorkerError.

        `tell` gets the solution as it stands, about ten times a second. Gives the number for
        `cancel`.
        """
        job = Job(next(self._numbers), search.problem.robot.key, search.state(), tell is not None)
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
        given = []
        with self._lock:
            while self._waiting and self._members:
                open_job = self._waiting.pop(0)
                member = min(self._members, key=lambda m: (not m.ready, len(m.jobs)))
                member.jobs[open_job.job.number] = open_job
                given.append((member, open_job.job))
        for member, job in given:
            member.send(job)

    def cancel(self, number: int) -> None:
        """
        Ask for the answer of a search at once.

        It comes within `GRACE`, or an UnansweredError does.
        """
        with self._lock:
            waiting = [each for each in self._waiting if each.job.number == number]
            self._waiting = [each for each in self._waiting if each not in waiting]
        for each in waiting:
            each.end(UnansweredError('cancelled before a worker process could be started'))
        for member in list(self._members):
            if job := member.jobs.get(number):
                self._ask_for_answer(member, job, GRACE)

    def _ask_for_answer(self, member: Member, job: OpenJob, grace: float) -> None:
        job.answer_by = time.monotonic() + grace
        member.send(Cancel(job.job.number))
        self._waker.send_bytes(b'.')

    def cancel_all(self) -> None:
        """Ask for the answers of all searches at once, also of those that are still to come."""
        self._stopping = True
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.end(UnansweredError('cancelled before a worker process could be started'))
        for member in list(self._members):
            for job in list(member.jobs.values()):
                self._ask_for_answer(member, job, LAST_GRACE)

    def close(self) -> None:
        """End all processes; open searches get no answer any more."""
        self._closing = True
        self._waker.send_bytes(b'.')
        self._thread.join()
        for member in self._members:
            member.process.kill()
        for member in self._members:
            member.end()

    # -- in the pool's thread -------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closing:
            try:
                self._listen()
                self._give_up()
                self._fill_places()
            except Exception as error:
                self._log.error(f'workers: {type(error).__name__}: {error}')
                time.sleep(CHECK)

    def _listen(self) -> None:
        members = list(self._members)
        sources = [end for m in members for end in (m.connection, m.process.sentinel)]
        unanswered = [(member, job) for member in members for job in list(member.jobs.values())
                      if job.answer_by < math.inf and not job.ended]
        first = min((job.answer_by for _, job in unanswered), default=math.inf)
        patience = max(0.0, min(CHECK, first - time.monotonic()))
        ready = set(wait([self._wake, *sources], patience))
        while self._wake.poll():
            self._wake.recv_bytes()
        for member in members:
            alive = member.process.sentinel not in ready
            if member.connection in ready:
                alive = self._receive(member) and alive
            if not alive or member.stuck():
                self._lose(member, 'was stuck' if alive else 'died')
        for member, job in unanswered:
            self._end_unanswered(member, job)

    def _end_unanswered(self, member: Member, job: OpenJob) -> None:
        if time.monotonic() >= job.answer_by and not job.ended:
            member.send(Cancel(job.job.number))   # the first may have come before the job
            job.end(UnansweredError('cancelled; its worker process is busy'))

    def _receive(self, member: Member) -> bool:
        """Take what a worker says; gives whether its pipe is still open."""
        try:
            while member.connection.poll():
                self._take(member, member.connection.recv())
        except (EOFError, OSError):
            return False
        return True

    def _take(self, member: Member, message: Ready | Progress | Result) -> None:
        if isinstance(message, Ready):
            member.ready = True
        elif isinstance(message, Progress):
            job = member.jobs[message.number]
            if job.tell and not job.ended:
                job.tell(message.solution)
        else:
            self._end(member.jobs.pop(message.number), message)

    def _end(self, job: OpenJob, result: Result) -> None:
        if result.solution is not None:
            job.end(result.solution)
        else:
            self._log.error(f'a search failed:\n{result.failure}')
            job.end(WorkerError(result.failure.strip().splitlines()[-1]))

    def _lose(self, member: Member, how: str) -> None:
        with self._lock:
            self._members.remove(member)
            self._vacant.append(member.started + RESTART)
            self.replaced += 1
        member.end()
        code = '' if how == 'was stuck' else f' (exit code {member.process.exitcode})'
        reason = f'the worker process of this search {how}{code}'
        self._log.error(f'a worker process {how}{code}; another one takes its place')
        for job in member.jobs.values():
            job.end(WorkerError(reason))

    def _fill_places(self) -> None:
        while self._vacant and min(self._vacant) <= time.monotonic():
            self._vacant.remove(min(self._vacant))
            member, told = Member(self._context), None
            while not self._join(member, told):
                told = self._robot
                member.send(told)
        self._hand_out()

    def _give_up(self) -> None:
        """Answer for jobs that no worker has come for."""
        with self._lock:
            late = [job for job in self._waiting if job.deadline + OVERDUE < time.monotonic()]
            self._waiting = [job for job in self._waiting if job not in late]
        for job in late:
            job.end(WorkerError('no worker process could be started'))

    def _join(self, member: Member, told: TakeRobot | None) -> bool:
        """Let the node have a member that knows the present robot."""
        with self._lock:
            if told is self._robot:
                self._members.append(member)
            return told is self._robot
