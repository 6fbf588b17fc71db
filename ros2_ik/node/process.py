"""The signals that end the node, and the process that workers and the servo are forked from."""

import ctypes
import multiprocessing
from multiprocessing import forkserver, resource_tracker
import signal

# SIGHUP: a terminal that closes, unless who started the node, as nohup does, has it ignored
SIGNALS = (signal.SIGINT, signal.SIGTERM, *(
    () if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (signal.SIGHUP,)))
PRELOAD = 'ros2_ik.node.preload'


def ensure_fork_server() -> None:
    """Start the process that workers and the servo are forked from, unless it runs."""
    resource_tracker.ensure_running()   # first: it unblocks signals
    # a terminal sends them to the whole group, also while Python starts there
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    multiprocessing.set_forkserver_preload([PRELOAD])
    forkserver.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Ask the kernel to end this process with its parent (Linux, PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
