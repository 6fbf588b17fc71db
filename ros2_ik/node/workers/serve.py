"""
A worker process and its messages: it runs several searches alternately, one attempt at a time.

Searches past their deadline run first, then the search with the least computing time so far, so
that short searches do not wait for searches that use up their timeout. Imports no rclpy.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
import os
import pickle
from queue import SimpleQueue
import threading
import time
import traceback
from typing import NamedTuple, TypeAlias

from ros2_ik.core import collision_checker, IKError, IKSolution, Robot, Scene
from ros2_ik.core.internals import PathSearch, Search, TimedPath, unpack

NICENESS = 10     # lower priority than the node's own callbacks
PROGRESS_PERIOD = 0.1     # between two progress reports of a search [s]

AnySearch: TypeAlias = Search | PathSearch
Answer: TypeAlias = IKSolution | TimedPath


class Result(NamedTuple):
    """
    Result of a search, sent to the node; without a solution, `failure` has the traceback.

    During a search, the best result so far is sent about ten times per second (`is_final` False).
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
        """Sort key: searches past their deadline first, then by computing time."""
        return time.monotonic() < self.search.budget.deadline, self.spent


def serve(connection: Connection) -> None:
    """Run searches until the node closes the pipe or ends."""
    os.nice(NICENESS)
    worker = Worker(connection)
    threading.Thread(target=worker.receive, daemon=True).start()
    # if the pipe is closed, `receive` ends the process
    with suppress(BrokenPipeError, ConnectionResetError):
        while True:
            worker.run_once()


class Worker:
    """State of the worker process: the robot, open searches, and queued calls from the node."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # methods of this class that the node calls, and their arguments
        self._calls: SimpleQueue[tuple[Callable[..., None], tuple[object, ...]]] = SimpleQueue()
        self._cancelled: set[int] = set()
        self._robots: dict[str, Robot] = {}
        self._open: dict[int, OpenSearch] = {}

    def receive(self) -> None:
        """Receive calls, in a thread; end the process when the node closes the pipe or ends."""
        try:
            while True:
                method, arguments = self._connection.recv()
                # set at once, so that a cancellation ends a long attempt early
                if method is Worker.cancel:
                    self._cancelled.update(arguments)
                # the main thread makes the call after its attempt, which uses shared buffers
                self._calls.put((method, arguments))
        except (EOFError, OSError):
            os._exit(0)
        # for example, a message cannot be unpickled; the pool then starts another worker
        except Exception:
            traceback.print_exc()
            os._exit(1)

    def run_once(self) -> None:
        """Run all queued calls (wait for one if no search is open), then one attempt."""
        while not self._open or not self._calls.empty():
            method, arguments = self._calls.get()
            method(self, *arguments)
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

    # -- calls from the node --------------------------------------------------------------

    def set_robot(self, key: str, pickled: bytes, meshes: str, missing: str) -> None:
        """
        Replace the robot, to which searches refer by `key`.

        `meshes` and `missing` are arguments of `collision_checker`.
        """
        # only one robot: the node cancels the searches for earlier robots
        robot = pickle.loads(pickled)
        self._robots = {key: robot}
        # create the geometry now; errors are reported by the first search
        with suppress(IKError):
            collision_checker(robot, Scene(robot), meshes, missing).distance_check    # noqa: B018

    def begin(self, number: int, robot_key: str, packed: bytes, sent: float) -> None:
        """
        Begin a search; `packed` are the bytes that `pack` returned.

        `sent` is the time of the submission to the pool, on the steady clock [s].
        """
        try:
            search: AnySearch = unpack(packed, self._robots[robot_key])
        except Exception:
            self._fail(number)
            return
        waited = max(0.0, time.monotonic() - sent)
        # the time budget of the search starts now
        search.budget.deadline += waited
        search.budget.started += waited
        search.budget.cancel = lambda: number in self._cancelled
        self._open[number] = OpenSearch(search)

    def cancel(self, number: int) -> None:
        """End a search, and send its best result."""
        if opened := self._open.pop(number, None):
            self._connection.send(Result(number, opened.search.solution()))
        self._cancelled.discard(number)

    def _fail(self, number: int) -> None:
        self._open.pop(number, None)
        self._connection.send(Result(number, None, traceback.format_exc()))
