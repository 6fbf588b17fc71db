"""
The worker's side: several searches at once, one attempt at a time. No rclpy here.

A search that a few more attempts would finish must not wait behind ones that use up their time.
So the next attempt always goes to the search that has had the least computing time.
"""

from dataclasses import dataclass
import os
import pickle
import signal
import time
import traceback
from typing import Any

from ros2_ik.core import collision_checker, Scene, Search
from ros2_ik.node.workers.jobs import Cancel, Job, Ready, Result, TakeRobot

NICENESS = 10     # the node's own callbacks go first
ROBOTS_KEPT = 2   # jobs for the robot before the newest may still be under way


@dataclass
class OpenSearch:
    """A search and the computing time it has had [s]."""

    search: Search
    spent: float = 0.0

    def attempt(self) -> bool:
        """Make one attempt; gives whether the search is finished."""
        before = time.thread_time()
        finished = self.search.run(seconds=0)
        self.spent += time.thread_time() - before
        return finished

    @property
    def overdue(self) -> bool:
        """Whether its time is up, however little of it was its own."""
        return time.monotonic() >= self.search.budget.deadline


def serve(connection: Any) -> None:
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

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._robots: dict[str, Any] = {}
        self._open: dict[int, OpenSearch] = {}
        self._unmade: TakeRobot | None = None   # whose collision geometry is to be made

    def turn(self) -> None:
        """Take what has come, waiting only without work; then make one attempt."""
        while not self._open or self._connection.poll():
            if self._unmade and not self._connection.poll():
                self._make_geometry()
            self._take(self._connection.recv())
        number, chosen = min(self._open.items(),
                             key=lambda item: (not item[1].overdue, item[1].spent))
        try:
            if chosen.attempt():
                self._answer(number)
        except Exception:
            self._fail(number)

    def _take(self, message: TakeRobot | Job | Cancel) -> None:
        if isinstance(message, TakeRobot):
            self._learn(message)
            while len(self._robots) > ROBOTS_KEPT:
                del self._robots[next(iter(self._robots))]
        elif isinstance(message, Job):
            try:
                search = Search.resume(self._robots[message.robot_key], message.state)
                self._open[message.number] = OpenSearch(search)
            except Exception:
                self._fail(message.number)
        elif message.number in self._open:
            self._open[message.number].search.budget.cancel = lambda: True
            self._answer(message.number)

    def _learn(self, message: TakeRobot) -> None:
        robot = self._robots.pop(message.key, None) or pickle.loads(message.robot)
        self._robots[message.key] = robot
        self._unmade = message if message.geometry else None

    def _make_geometry(self) -> None:
        """Make it while there is nothing to do, so that no search has to wait for it."""
        message, self._unmade = self._unmade, None
        if message is None or message.geometry is None:
            return
        robot = self._robots[message.key]
        try:
            collision_checker(robot, Scene(robot), *message.geometry)
        except Exception:   # the search that needs it will say why
            traceback.print_exc()

    def _answer(self, number: int) -> None:
        self._connection.send(Result(number, self._open.pop(number).search.solution()))

    def _fail(self, number: int) -> None:
        self._open.pop(number, None)
        self._connection.send(Result(number, None, traceback.format_exc()))
