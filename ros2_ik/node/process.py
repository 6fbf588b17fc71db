"""The signals that end the node, and the fork server of the workers and the servo."""

from collections.abc import Callable
import ctypes
import multiprocessing
from multiprocessing import forkserver, resource_tracker
from multiprocessing.process import BaseProcess
import signal

# SIGHUP (the terminal was closed) stays ignored if it was ignored at start-up, as under nohup
SIGNALS = (signal.SIGINT, signal.SIGTERM, *(
    () if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (signal.SIGHUP,)))
PRELOAD = 'ros2_ik.node.preload'


def ensure_fork_server() -> None:
    """Start the fork server of the workers and the servo, unless it is running."""
    # before signals are blocked, since starting the resource tracker unblocks them
    resource_tracker.ensure_running()
    # Ctrl-C and systemd signal all processes, but only the node may react: the fork server and its
    # processes inherit this signal mask, so that the servo and the workers finish their work
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    multiprocessing.set_forkserver_preload([PRELOAD])
    forkserver.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_process(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process from the fork server."""
    ensure_fork_server()
    process = multiprocessing.get_context('forkserver').Process(
        target=target, args=arguments, daemon=True)
    process.start()
    return process


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends (Linux, PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
