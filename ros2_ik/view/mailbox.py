"""Queue of jobs in which the newest one of each kind replaces the older ones."""

from collections.abc import Callable
import threading

Job = Callable[[], None]


class Mailbox:
    """
    Jobs in the order in which their kinds came, with one place for each kind.

    A second job of a kind that waits takes the place of the first: events of a drag never queue.
    Jobs without a kind all wait. Any thread may put jobs in, and one takes them.
    """

    def __init__(self) -> None:
        self._jobs: dict[object, Job] = {}
        self._lock = threading.Lock()

    def put(self, job: Job, kind: str | None = None) -> None:
        """Put in a job, in place of one of its kind."""
        with self._lock:
            self._jobs[object() if kind is None else kind] = job

    def put_first(self, job: Job, kind: str, drops: str) -> None:
        """Put in a job before all others, and drop one of another kind that waits."""
        with self._lock:
            self._jobs = {kind: job} | {other: waiting for other, waiting in self._jobs.items()
                                        if other not in (kind, drops)}

    def take(self) -> Job | None:
        """Return the next job; None if there is none."""
        with self._lock:
            return self._jobs.pop(next(iter(self._jobs))) if self._jobs else None

    def waits(self, kind: str) -> bool:
        """Return whether a job of that kind waits."""
        return kind in self._jobs
