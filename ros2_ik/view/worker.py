"""The one thread that works for a page, or for RViz."""

from collections.abc import Callable
import sys
import threading
import time
import traceback

from ros2_ik.view.arm import PERIOD
from ros2_ik.view.mailbox import Job, Mailbox
from ros2_ik.view.session import Session

STOP, MOVE = 'stop', 'move'    # kinds of jobs
CALM = 0.1    # what need not be shown at once is shown so often [s]
IDLE = 1.0    # between two looks for a job, of which `wake` tells [s]


class Worker:
    """
    Does the jobs of a page, and goes on with what moves; after each the page is shown.

    `show` takes whether all is to be shown, also what takes longer, as text does.
    """

    def __init__(self, session: Session, show: Callable[[bool], None]) -> None:
        self.session, self._show = session, show
        self._mailbox, self._ended = Mailbox(), False
        self._next_step = self._calm_at = 0.0
        self._all_shown, self._shows = False, 0
        session.arm.give_up_when(lambda: self._mailbox.waits(STOP))
        self._thread = threading.Thread(target=self.run, name='view', daemon=True)

    def start(self) -> None:
        """Begin to work, in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the job that is being done."""
        self.post(self.end)
        self._thread.join(2.0)

    def post(self, job: Job, kind: str | None = None) -> None:
        """Have a job done, in place of one of its kind that waits; any thread may call."""
        self._mailbox.put(job, kind)
        self.session.arm.wake()

    def post_stop(self, job: Job) -> None:
        """Have a job done before all that waits, of which what would move the robot is not."""
        self._mailbox.put_first(job, STOP, drops=MOVE)
        self.session.arm.wake()

    def wait(self, seconds: float = 10.0) -> None:
        """Wait until all jobs so far are done and shown; TimeoutError if that takes longer."""
        end, done = time.monotonic() + seconds, list[int]()
        self.post(lambda: done.append(self._shows))
        while not done or self._shows == done[0]:
            if time.monotonic() > end:
                raise TimeoutError(f'the page is busy for more than {seconds} s')
            time.sleep(0.002)

    def end(self) -> None:
        """Have `run` return; only a job may call."""
        self._ended = True

    def run(self) -> None:
        """Work until the end."""
        while not self._ended:
            try:
                self._turn(self._next_job())
            except Exception:    # a defect of ours: told, and the page lives on
                traceback.print_exc()
                self.session.status = (f'FAILURE, a defect of the viewer: {sys.exc_info()[1]!r} '
                                       '(its terminal has more)')

    def _next_job(self) -> Job | None:
        """Return the next job; None when it is time to go on without one."""
        while (job := self._mailbox.take()) is None and (patience := self._patience()) > 0:
            self.session.arm.wait(patience)
        return job

    def _turn(self, job: Job | None) -> None:
        session, now = self.session, time.monotonic()
        if job is not None:
            session.attempt(job)
        if session.arm.moving and now >= self._next_step:
            self._next_step = max(self._next_step + PERIOD, now)
            session.step()
        self._all_shown = now >= self._calm_at
        if self._all_shown:
            self._calm_at = now + CALM
        self._show(self._all_shown)
        self._shows += self._all_shown

    def _patience(self) -> float:
        """Return how long there is nothing to do unless a job comes [s]."""
        now, times = time.monotonic(), [IDLE]
        if self.session.arm.moving:
            times.append(self._next_step - now)
        if not self._all_shown:
            times.append(self._calm_at - now)
        return min(times)
