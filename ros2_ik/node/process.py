"""The node as a process: its signals, its output, and the process that others are forked from."""

from collections.abc import Callable
from contextlib import suppress
import fcntl
import io
import multiprocessing
from multiprocessing import forkserver, resource_tracker
import os
import select
import signal
import socket
import stat
import sys
import threading
import time

# SIGHUP: a terminal that closes, unless who started the node, as nohup does, has it ignored
SIGNALS = (signal.SIGINT, signal.SIGTERM, *(
    () if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (signal.SIGHUP,)))
PRELOAD = 'ros2_ik.node.preload'
PIPE_SIZE = 1 << 20   # so that nothing is lost while the reader is only slow [bytes]
PATIENCE = 50         # with a terminal, which has room for 4 kB [ms]


def ensure_fork_server() -> None:
    """Have the process that workers and the servo are forked from; start it if it is gone."""
    resource_tracker.ensure_running()   # first: it unblocks signals
    # a terminal sends them to the whole group, also while Python starts there
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    multiprocessing.set_forkserver_preload([PRELOAD])
    forkserver.ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Ending:
    """
    Learns of the first signal, and ends the process if the node does not end in time.

    The number of a signal is written to a socket by C, so that a thread learns of it whatever
    the main thread is doing. `begun` is set once the node is being closed.
    """

    begun = False

    def __init__(self) -> None:
        self.told = threading.Event()
        self._here, self._there = socket.socketpair()
        self._there.setblocking(False)
        signal.set_wakeup_fd(self._there.fileno(), warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)

    def listen(self, wake: Callable[[], None], seconds: Callable[[], float]) -> None:
        """Call `wake` at the first signal; the process ends `seconds()` after it."""
        def run() -> None:
            self._here.recv(1)
            most = seconds()
            self.told.set()
            wake()
            time.sleep(most)
            if self.begun:
                os._exit(0)
            print(f'ros2_ik: still busy {most:.1f} s after it was told to end: ended as it is',
                  file=sys.stderr, flush=True)
            os._exit(1)
        threading.Thread(target=run, name='signals', daemon=True).start()


def print_without_waiting() -> None:
    """
    Lose what nobody reads of stdout and stderr, rather than wait with the arm in motion.

    A pipe that is not read, as of a stopped launch, is full some day; a terminal takes nothing
    after Ctrl-S. Both are opened again, since others may write to what they are.
    """
    for number, name in ((1, 'stdout'), (2, 'stderr')):
        with suppress(OSError):    # closed, or another user's
            kind = os.fstat(number).st_mode
            if not (stat.S_ISFIFO(kind) or os.isatty(number)):
                continue
            again = os.open(f'/proc/self/fd/{number}',
                            os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            os.dup2(again, number)
            os.close(again)
            with suppress(OSError):   # a terminal's
                fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
            setattr(sys, name, io.TextIOWrapper(
                io.BufferedWriter(_LossyFile(number)), getattr(sys, name).encoding,
                'backslashreplace', line_buffering=True))


class _LossyFile(io.FileIO):
    """Reports all as written also where nothing could be, the first time after a moment."""

    def __init__(self, number: int) -> None:
        super().__init__(number, 'w', closefd=False)
        self._full = False

    def write(self, data: bytes) -> int:   # type: ignore[override]
        written = super().write(data)
        if written is None and not self._full:
            room = select.poll()
            room.register(self, select.POLLOUT)
            room.poll(PATIENCE)
            written = super().write(data)
        self._full = written is None
        return len(data) if written is None else written
