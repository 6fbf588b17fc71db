"""A worker process as the node sees it."""

from collections.abc import Callable
from dataclasses import dataclass
import math
import pickle
import threading
import time
from typing import Any

from ros2_ik.core import IKSolution, Robot
from ros2_ik.node.workers.jobs import Job, TakeRobot
from ros2_ik.node.workers.serve import serve

OVERDUE = 1.0   # with no answer so long after a job's deadline [s], a worker is stuck
START = 30.0    # it may take this long to start [s]
DEAF = 5.0      # it may leave what it is sent unread for this long [s]

Done = Callable[[IKSolution | Exception], None]
Tell = Callable[[IKSolution], None]


class WorkerError(RuntimeError):
    """A search that failed in its worker, or whose worker died or was stuck."""


class UnansweredError(WorkerError):
    """A search that was cancelled, but whose worker has not yet said what it has found."""


@dataclass(eq=False)
class OpenJob:
    """A job, and who is told of it: `done` of its end, once, and `tell` of its progress."""

    job: Job
    deadline: float
    done: Done
    tell: Tell | None = None
    answer_by: float = math.inf   # when cancelled, it ends unanswered then
    ended: bool = False

    def end(self, answer: IKSolution | Exception) -> None:
        """Say what came of it, unless that has been said."""
        if not self.ended:
            self.ended = True
            self.done(answer)


class Member:
    """One process, its pipe and the jobs it has, by number."""

    def __init__(self, context: Any) -> None:
        self.connection, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        there.close()   # the worker's end alone keeps the pipe open
        self.started, self.ready = time.monotonic(), False
        self._sending, self._begun = threading.Lock(), math.inf
        self.jobs: dict[int, OpenJob] = {}

    def send(self, message: Any) -> None:
        """Send, unless it has died: whoever waits for its answers sees that, too."""
        try:
            with self._sending:
                self._begun = time.monotonic()
                self.connection.send(message)
        except OSError:
            pass
        finally:
            self._begun = math.inf

    def stuck(self) -> bool:
        """Whether an answer, or its start, is long overdue."""
        now = time.monotonic()
        if not self.ready:
            return now > self.started + START
        earliest = min((job.deadline for job in list(self.jobs.values())), default=math.inf)
        return now > earliest + OVERDUE or now > self._begun + DEAF

    def end(self) -> None:
        """Kill the process and wait until it is gone."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def robot_message(robot: Robot, geometry: tuple[str, str] | None = None) -> TakeRobot:
    """Pickle a robot once for all workers."""
    return TakeRobot(robot.key, pickle.dumps(robot), geometry)
