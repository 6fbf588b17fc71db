"""The process that workers are forked from. It imports for a second, so it is started early."""

import multiprocessing
from multiprocessing import forkserver, resource_tracker
import signal

from ros2_ik.node.watchdog import SIGNALS

PRELOAD = 'ros2_ik.node.preload'


def ensure_fork_server() -> None:
    """Have a fork server; starts another one if it was killed."""
    resource_tracker.ensure_running()   # first: it unblocks signals
    # The whole process group gets them; the fork server and its workers never do.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    multiprocessing.set_forkserver_preload([PRELOAD])
    forkserver.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
