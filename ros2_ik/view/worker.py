"""The worker of a page, or of goals in RViz: runs all jobs on a session in one thread."""

from collections.abc import Callable
import sys
import threading
import time
import traceback

from ros2_ik.view.arm import PERIOD
from ros2_ik.view.session import Session

Job = Callable[[], None]
STOP, MOVE = 'stop', 'move'    # kinds of jobs
IDLE = 1.0    # longest time to wait for `wake` before the queue is checked again [s]


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


class Worker:
    """Runs jobs on a session, steps its arm, and calls `show` after each job and each step."""

    def __init__(self, session: Session, show: Callable[[], None]) -> None:
        self.session, self._show = session, show
        self._mailbox, self._ended, self._next_step = Mailbox(), False, 0.0
        session.arm.give_up_when(lambda: self._mailbox.waits(STOP))
        self._thread = threading.Thread(target=self.run, name='view', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the jobs queued before."""
        self.post(self.end)
        self._thread.join(2.0)

    def post(self, job: Job, kind: str | None = None) -> None:
        """Queue a job, or replace the queued job of its kind; thread-safe."""
        self._mailbox.put(job, kind)
        self.session.arm.wake()

    def post_stop(self, job: Job) -> None:
        """Queue a job before all others, and remove a queued motion; thread-safe."""
        self._mailbox.put_first(job, STOP, drops=MOVE)
        self.session.arm.wake()

    def end(self) -> None:
        """End `run` after the present job; to be called by a job only."""
        self._ended = True

    def run(self) -> None:
        """Run jobs until `end` is called."""
        while not self._ended:
            # a defect of the viewer is reported, and must not end the page
            try:
                self._run_once(self._next_job())
            except Exception:
                traceback.print_exc()
                self.session.status = (f'FAILURE, a defect of the viewer: {sys.exc_info()[1]!r} '
                                       '(see its terminal)')

    def _next_job(self) -> Job | None:
        """Wait for a job and return it, None if the arm's next step is due before."""
        while (job := self._mailbox.take()) is None and (left := self._time_left()) > 0:
            self.session.arm.wait(left)
        return job

    def _time_left(self) -> float:
        """Return the time until the arm's next step [s], at most IDLE."""
        left = self._next_step - time.monotonic() if self.session.arm.moving else IDLE
        return min(left, IDLE)

    def _run_once(self, job: Job | None) -> None:
        if job is not None:
            self.session.attempt(job)
        now = time.monotonic()
        if self.session.arm.moving and now >= self._next_step:
            # after a long job missed steps are skipped, not made up for
            self._next_step = max(self._next_step + PERIOD, now)
            self.session.step()
        self._show()
