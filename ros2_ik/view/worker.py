"""The worker thread of a page, or of goals in RViz."""

from collections.abc import Callable
import sys
import threading
import time
import traceback

from ros2_ik.view.arm import PERIOD
from ros2_ik.view.mailbox import Job, Mailbox
from ros2_ik.view.session import Session

STOP, MOVE = 'stop', 'move'    # kinds of jobs
IDLE = 1.0    # time between two looks for a job, besides those that `wake` causes [s]


class Worker:
    """Does jobs on a session, steps its arm, and calls `show` after each job and step."""

    def __init__(self, session: Session, show: Callable[[], None]) -> None:
        self.session, self._show = session, show
        self._mailbox, self._ended, self._next_step = Mailbox(), False, 0.0
        session.arm.give_up_when(lambda: self._mailbox.waits(STOP))
        self._thread = threading.Thread(target=self.run, name='view', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the present job."""
        self.post(self.end)
        self._thread.join(2.0)

    def post(self, job: Job, kind: str | None = None) -> None:
        """Queue a job, in place of a queued one of its kind; any thread may call."""
        self._mailbox.put(job, kind)
        self.session.arm.wake()

    def post_stop(self, job: Job) -> None:
        """Queue a job before all others, and drop a queued motion; any thread may call."""
        self._mailbox.put_first(job, STOP, drops=MOVE)
        self.session.arm.wake()

    def wait(self, seconds: float = 10.0) -> None:
        """Wait until all posted jobs are done and shown; raises TimeoutError."""
        done = threading.Event()
        self.post(done.set)
        if not done.wait(seconds):
            raise TimeoutError(f'the page is busy for more than {seconds} s')

    def end(self) -> None:
        """Make `run` return; only a job may call."""
        self._ended = True

    def run(self) -> None:
        """Work until `end`."""
        while not self._ended:
            try:
                self._turn(self._next_job())
            except Exception:    # a defect of ours: reported, and the page stays
                traceback.print_exc()
                self.session.status = (f'FAILURE, a defect of the viewer: {sys.exc_info()[1]!r} '
                                       '(its terminal has more)')

    def _next_job(self) -> Job | None:
        """Return the next job; None when the arm's next step is due."""
        while (job := self._mailbox.take()) is None and (left := self._time_left()) > 0:
            self.session.arm.wait(left)
        return job

    def _time_left(self) -> float:
        """Return the time until the arm's next step, at most IDLE [s]."""
        left = self._next_step - time.monotonic() if self.session.arm.moving else IDLE
        return min(left, IDLE)

    def _turn(self, job: Job | None) -> None:
        if job is not None:
            self.session.attempt(job)
        now = time.monotonic()
        if self.session.arm.moving and now >= self._next_step:
            self._next_step = max(self._next_step + PERIOD, now)
            self.session.step()
        self._show()
