"""
A worker process and its messages: it runs several searches alternately, one attempt at a time.

The next attempt always goes to the search with the least computing time so far, so that a search
that needs few attempts does not wait for searches that use all their time. Imports no rclpy.
"""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
import math
from multiprocessing.connection import Connection
import os
import pickle
import signal
import time
import traceback
from typing import NamedTuple, TypeAlias

from ros2_ik.core import collision_checker, IKError, IKSolution, Robot, Scene
from ros2_ik.core.internals import PathSearch, Search, TimedPath, unpack

NICENESS = 10     # lower priority than the node's own callbacks
POLL_PERIOD = 0.005       # between two checks for messages during an attempt [s]
PROGRESS_PERIOD = 0.1     # between two progress reports of a search [s]

AnySearch: TypeAlias = Search | PathSearch
Answer: TypeAlias = IKSolution | TimedPath


class TakeRobot(NamedTuple):
    """
    To the worker: a pickled robot, to which jobs refer by `key`.

    `geometry` are the arguments `meshes` and `missing` of `collision_checker`.
    """

    key: str
    robot: bytes
    geometry: tuple[str, str] = ('exact', 'refuse')


class Job(NamedTuple):
    """
    To the worker: a search, as bytes of `pack`.

    `sent` is the time of the submission to the pool, on the steady clock [s].
    """

    number: int
    robot_key: str
    question: bytes
    sent: float = math.inf


class Cancel(NamedTuple):
    """To the worker: end a job, and send its best result."""

    number: int


class Result(NamedTuple):
    """
    To the node: the result of a job; without a solution, `failure` has the traceback.

    Messages that are not final have the best result so far, about ten times per second.
    """

    number: int
    solution: Answer | None
    failure: str = ''
    is_final: bool = True


@dataclass
class OpenSearch:
    """A search, its computing time `spent` [s], and the time of its last progress report."""

    search: AnySearch
    spent: float = 0.0
    reported_at: float = field(default_factory=time.monotonic)    # steady clock [s]

    @property
    def order(self) -> tuple[bool, float]:
        """Sort key: first searches past their deadline, then by computing time."""
        return time.monotonic() < self.search.budget.deadline, self.spent


def serve(connection: Connection) -> None:
    """Run searches until the node closes the pipe or ends."""
    # Ctrl-C and systemd signal all processes of the node, which kills its workers itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.nice(NICENESS)
    worker = Worker(connection)
    try:
        while True:
            worker.turn()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


class Worker:
    """The state of this process: known robots, open searches, and unread messages."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # messages received during an attempt
        self._inbox: deque[TakeRobot | Job | Cancel] = deque()
        self._robots: dict[str, Robot] = {}
        self._open: dict[int, OpenSearch] = {}
        self._polled_at = 0.0

    def turn(self) -> None:
        """Handle all messages (wait for one if no search is open), then run one attempt."""
        while not self._open or self._inbox or self._connection.poll():
            self._handle(self._inbox.popleft() if self._inbox else self._connection.recv())
        number, chosen = min(self._open.items(), key=lambda item: item[1].order)
        before = time.thread_time()
        try:
            finished = chosen.search.run(seconds=0)
            chosen.spent += time.thread_time() - before
            if finished or time.monotonic() > chosen.reported_at + PROGRESS_PERIOD:
                chosen.reported_at = time.monotonic()
                self._connection.send(Result(number, chosen.search.solution(), is_final=finished))
            if finished:
                del self._open[number]
        except Exception:
            self._fail(number)

    def _handle(self, message: TakeRobot | Job | Cancel) -> None:
        if isinstance(message, TakeRobot):
            # searches for an earlier robot are cancelled by the node
            robot = pickle.loads(message.robot)
            self._robots = {message.key: robot}
            # creates the geometry before the first search, which reports errors
            with suppress(IKError):
                collision_checker(robot, Scene(robot), *message.geometry).nearness  # noqa: B018
        elif isinstance(message, Job):
            self._begin(message)
        elif opened := self._open.pop(message.number, None):
            opened.search.budget.cancel = lambda: True
            self._connection.send(Result(message.number, opened.search.solution()))

    def _begin(self, job: Job) -> None:
        try:
            search: AnySearch = unpack(job.question, self._robots[job.robot_key])
        except Exception:
            self._fail(job.number)
            return
        waited = max(0.0, time.monotonic() - job.sent)
        # the time budget of the search starts now
        search.budget.deadline += waited
        search.budget.started += waited
        search.budget.cancel = lambda: self._is_cancelled(job.number)
        self._open[job.number] = OpenSearch(search)

    def _is_cancelled(self, number: int) -> bool:
        """
        Poll the pipe every POLL_PERIOD, so that a cancellation ends a long attempt early.

        Other messages remain in the inbox until the end of the attempt: answering another search
        would overwrite shared buffers of the running one.
        """
        now = time.monotonic()
        if now >= self._polled_at + POLL_PERIOD:
            self._polled_at = now
            while self._connection.poll():
                self._inbox.append(self._connection.recv())
        return Cancel(number) in self._inbox

    def _fail(self, number: int) -> None:
        self._open.pop(number, None)
        self._connection.send(Result(number, None, traceback.format_exc()))
