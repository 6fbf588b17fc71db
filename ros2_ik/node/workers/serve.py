"""
The worker's side: several searches in turns of one attempt. No rclpy here.

A search that a few more attempts would finish must not wait behind ones that use up their time.
So the next attempt always goes to the search that has had the least computing time.
"""

from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
import os
import pickle
import signal
import time
import traceback

from ros2_ik.core import collision_checker, Robot, Scene
from ros2_ik.node.workers.jobs import AnySearch, Cancel, Job, Progress, Ready, Result, TakeRobot

NICENESS = 10     # the node's own callbacks go first
ROBOTS_KEPT = 2   # jobs for the robot before the newest may still be under way
LOOK = 0.005      # how often an attempt looks into the pipe for the end of its search [s]
TELL = 0.1        # how often the node is told of a search that is watched [s]


@dataclass
class OpenSearch:
    """A search and its computing time [s]; `told` is the time of its last feedback."""

    search: AnySearch
    watched: bool = False
    spent: float = 0.0
    told: float = field(default_factory=time.monotonic)

    def attempt(self) -> bool:
        """Make one attempt; return whether the search is finished."""
        before = time.thread_time()
        finished = self.search.run(seconds=0)
        self.spent += time.thread_time() - before
        return finished

    @property
    def order(self) -> tuple[bool, float]:
        """The key of its turn: a search whose time is up comes first, then the least spent."""
        return time.monotonic() < self.search.budget.deadline, self.spent


def serve(connection: Connection) -> None:
    """Work until the node closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)    # Ctrl-C reaches the whole process group,
    signal.signal(signal.SIGTERM, signal.SIG_IGN)   # systemd too; the node ends its workers
    os.nice(NICENESS)
    worker = Worker(connection)
    try:
        connection.send(Ready())
        while True:
            worker.turn()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


class Worker:
    """The open searches of this process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._inbox: deque[TakeRobot | Job | Cancel] = deque()       # what came during an attempt
        self._robots: dict[str, Robot] = {}
        self._open: dict[int, OpenSearch] = {}
        self._looked = 0.0

    def turn(self) -> None:
        """Receive messages, waiting only without work; then make one attempt."""
        while not self._open or self._inbox or self._connection.poll():
            self._take(self._inbox.popleft() if self._inbox else self._connection.recv())
        number, chosen = min(self._open.items(), key=lambda item: item[1].order)
        try:
            if chosen.attempt():
                self._answer(number)
            elif chosen.watched and (now := time.monotonic()) > chosen.told + TELL:
                chosen.told = now
                self._connection.send(Progress(number, chosen.search.solution()))
        except Exception:
            self._fail(number)

    def _take(self, message: TakeRobot | Job | Cancel) -> None:
        if isinstance(message, TakeRobot):
            self._learn(message)
        elif isinstance(message, Job):
            self._begin(message)
        elif message.number in self._open:
            self._open[message.number].search.budget.cancel = lambda: True
            self._answer(message.number)

    def _begin(self, job: Job) -> None:
        try:
            search = job.kind.of_question(self._robots[job.robot_key], job.question)
        except Exception:
            self._fail(job.number)
            return
        waited = max(0.0, time.monotonic() - job.sent)
        search.budget.deadline += waited     # its time begins now
        search.budget.started += waited
        search.budget.cancel = lambda: self._is_cancelled(job.number)
        self._open[job.number] = OpenSearch(search, job.watched)

    def _is_cancelled(self, number: int) -> bool:
        """
        Look into the pipe now and then, so that not even a long attempt goes on when cancelled.

        All else that comes stays for after the attempt: to answer for another search would use
        what this one is computing with.
        """
        now = time.monotonic()
        if now >= self._looked + LOOK:
            self._looked = now
            while self._connection.poll():
                self._inbox.append(self._connection.recv())
        return Cancel(number) in self._inbox

    def _learn(self, message: TakeRobot) -> None:
        robot = self._robots.pop(message.key, None) or pickle.loads(message.robot)
        self._robots[message.key] = robot
        while len(self._robots) > ROBOTS_KEPT:
            del self._robots[next(iter(self._robots))]
        if message.geometry:   # it is kept: no search has to make it
            try:
                collision_checker(robot, Scene(robot), *message.geometry)
            except Exception:   # the search that needs it will say why
                traceback.print_exc()
        self._connection.send(Ready())

    def _answer(self, number: int) -> None:
        self._connection.send(Result(number, self._open.pop(number).search.solution()))

    def _fail(self, number: int) -> None:
        self._open.pop(number, None)
        self._connection.send(Result(number, None, traceback.format_exc()))
