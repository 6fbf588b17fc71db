"""Thread-safe queue of jobs in which the newest job of each kind replaces older jobs."""

from collections.abc import Callable
import threading

Job = Callable[[], None]


class Mailbox:
    """
    Queue of jobs with at most one job of each kind.

    A new job replaces a queued job of its kind, at the position of the old job, so that events of
    a drag do not accumulate. Jobs without a kind are never replaced. Any thread may add jobs; one
    thread takes jobs.
    """

    def __init__(self) -> None:
        self._jobs: dict[object, Job] = {}
        self._lock = threading.Lock()

    def put(self, job: Job, kind: str | None = None) -> None:
        """Add a job, or replace the queued job of its kind."""
        with self._lock:
            # assigning to an existing key keeps its position in the dict
            self._jobs[object() if kind is None else kind] = job

    def put_first(self, job: Job, kind: str, drops: str) -> None:
        """Add a job before all others, and remove a queued job of the kind `drops`."""
        with self._lock:
            self._jobs = {kind: job} | {other: queued for other, queued in self._jobs.items()
                                        if other not in (kind, drops)}

    def take(self) -> Job | None:
        """Remove and return the next job, None if the queue is empty."""
        with self._lock:
            return self._jobs.pop(next(iter(self._jobs))) if self._jobs else None

    def waits(self, kind: str) -> bool:
        """Return whether a job of that kind is queued."""
        return kind in self._jobs
