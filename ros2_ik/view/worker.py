"""The worker of a page, or of goals in RViz: runs all jobs on a session in one thread."""

from collections.abc import Callable
import sys
import threading
import time
import traceback

from ros2_ik.view.arm import STEP_PERIOD
from ros2_ik.view.session import Session

Job = Callable[[], None]
STOP, MOVE = 'stop', 'move'    # kinds of jobs
IDLE = 1.0    # time to wait for `wake` if the arm does not move by itself [s]


class Worker:
    """
    Runs jobs on a session, steps its arm, and calls `show` after each job and each step.

    A new job replaces a queued job of its kind, at the position of the old job, so that events of
    a drag do not accumulate. Jobs without a kind are never replaced.
    """

    def __init__(self, session: Session, show: Callable[[], None]) -> None:
        self.session, self._show = session, show
        self._jobs, self._lock = dict[object, Job](), threading.Lock()
        self._ended, self._next_step = False, 0.0
        session.arm.add_abort_condition(lambda: STOP in self._jobs)
        self._thread = threading.Thread(target=self.run, name='view', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after all queued jobs."""
        self.post(self.end)
        self._thread.join(2.0)

    def post(self, job: Job, kind: str | None = None) -> None:
        """Queue a job, or replace the queued job of its kind; thread-safe."""
        with self._lock:
            # assigning to an existing key keeps its position in the dict
            self._jobs[object() if kind is None else kind] = job
        self.session.arm.wake()

    def post_stop(self, job: Job) -> None:
        """Queue a job before all others, and remove a queued motion; thread-safe."""
        with self._lock:
            self._jobs = {STOP: job} | {kind: queued for kind, queued in self._jobs.items()
                                        if kind not in (STOP, MOVE)}
        self.session.arm.wake()

    def end(self) -> None:
        """End `run` after the present job; call this only in the thread of `run`."""
        self._ended = True

    def run(self) -> None:
        """Run jobs until `end` is called."""
        while not self._ended:
            # a bug in the viewer must not end the page, so report it and continue
            try:
                self._run_once(self._next_job())
            except Exception:
                traceback.print_exc()
                self.session.status = (f'FAILURE, a defect of the viewer: {sys.exc_info()[1]!r} '
                                       '(see its terminal)')

    def _next_job(self) -> Job | None:
        """Wait for a job and return it; return None if the arm's next step is due first."""
        arm = self.session.arm
        while True:
            with self._lock:
                if self._jobs:
                    return self._jobs.pop(next(iter(self._jobs)))
            left = self._next_step - time.monotonic() if arm.moving else IDLE
            if left <= 0:
                return None
            arm.wait(left)

    def _run_once(self, job: Job | None) -> None:
        if job is not None:
            self.session.attempt(job)
        now = time.monotonic()
        if self.session.arm.moving and now >= self._next_step:
            # after a long job, missed steps are skipped
            self._next_step = max(self._next_step + STEP_PERIOD, now)
            self.session.step()
        self._show()
