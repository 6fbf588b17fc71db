"""
A small process beside the node's: told to end, the node ends in time, whatever it is doing.

Python runs a signal's handler when the main thread comes back from what it calls, and C++ that
holds the interpreter's lock stops all threads. So the signal's number goes from C, by
`signal.set_wakeup_fd`, to a process that shares nothing with the node but a socket. It sends the
number back, for a thread that wakes the executor, and kills the node when its time is over.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

# SIGHUP: a terminal that closes, unless who started the node, as nohup does, has it ignored
SIGNALS = (signal.SIGINT, signal.SIGTERM, *(
    () if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (signal.SIGHUP,)))
LIMIT = 0.7     # from the signal to the end, at most [s]
BRAKING = 2.0   # and so much more while an arm moves, to bring it to rest [s]
AFTERMATH = 0.1   # time for what was killed to be gone [s]
MOVING, STANDING = b'\xfe', b'\xff'   # from the node, beside the numbers of signals


class Watchdog:
    """The node's side; `spared` are processes of others that are its children all the same."""

    def __init__(self, spared: Iterable[int] = ()) -> None:
        # its end is kept open here, too: if it is killed, signals are written into nothing
        self._here, self._there = socket.socketpair()
        self._here.setblocking(False)
        # Signals go to the whole process group; this one, and what it starts, never gets them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._process = subprocess.Popen(
            [sys.executable, '-I', '-S', __file__, str(self._there.fileno()), *map(str, spared)],
            pass_fds=[self._there.fileno()], stdin=subprocess.DEVNULL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.set_wakeup_fd(self._here.fileno(), warn_on_full_buffer=False)

    def on_signal(self, function: Callable[[], None]) -> None:
        """Call a function, in a thread, soon after each signal."""
        def listen() -> None:
            while select.select([self._here], [], []) and self._here.recv(64):
                function()
        threading.Thread(target=listen, name='signals', daemon=True).start()

    def tell(self, moving: bool) -> None:
        """Say whether an arm moves, so that there is time to brake it."""
        with suppress(BlockingIOError):   # it was killed long ago
            self._here.send(MOVING if moving else STANDING)


def end_descendants(pid: int, spared: Iterable[int] = ()) -> None:
    """Kill all processes that a process has started, except some and theirs, and the caller."""
    _kill(_descendants(pid, {*spared, os.getpid()}))


def _kill(processes: list[int]) -> None:
    """Kill processes and wait a moment until they are gone."""
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + AFTERMATH
    while any(map(_lives, processes)) and time.monotonic() < end:
        time.sleep(2e-3)


def _lives(pid: int) -> bool:
    try:
        with open(f'/proc/{pid}/stat', 'rb') as file:
            return not file.read().rpartition(b')')[2].startswith(b' Z')
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that have not ended."""
    return _parents().get(pid, [])


def _descendants(pid: int, spared: set[int]) -> list[int]:
    parents = _parents()
    found = [pid]
    for each in found:
        found += [child for child in parents.get(each, []) if child not in spared]
    return found[1:]


def _parents() -> dict[int, list[int]]:
    """Return the children of each process that has any."""
    found: dict[int, list[int]] = {}
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{int(name)}/stat', 'rb') as file:
                # after the name, which may hold anything: state, parent
                parent = int(file.read().rpartition(b')')[2].split()[1])
        except (ValueError, OSError):   # not a process, or gone
            continue
        found.setdefault(parent, []).append(int(name))
    return found


class _Times:
    """When the node must have ended."""

    def __init__(self) -> None:
        self._told, self._stood = math.inf, -math.inf
        self._moving = False

    def take(self, byte: int) -> None:
        now = time.monotonic()
        if byte in SIGNALS:
            self._told = min(self._told, now)
        elif bytes([byte]) in (MOVING, STANDING):
            self._moving, self._stood = bytes([byte]) == MOVING, now

    @property
    def end(self) -> float:
        last = self._told + BRAKING + LIMIT
        return last if self._moving else min(last, max(self._told, self._stood) + LIMIT)


def _watch(connection: socket.socket, node: int, spared: set[int]) -> None:
    """Wait until the node is gone, or must be."""
    times, family = _Times(), list[int]()
    while True:
        left = max(0.0, times.end - time.monotonic())
        if not select.select([connection], [], [], None if left == math.inf else left)[0]:
            break
        data = connection.recv(64)
        if not data or os.getppid() != node:
            return
        for byte in data:
            times.take(byte)
            if byte in SIGNALS:
                connection.send(bytes([byte]))
                # now, for it takes a while on a busy machine
                family = _descendants(node, {*spared, os.getpid()})
    if os.getppid() == node:
        _kill([node, *family])   # at first: who reads the log may be held, and all that write it
        print(f'ros2_ik: busy with what cannot be interrupted for {LIMIT} s after it was told to '
              'end: killed', file=sys.stderr, flush=True)


if __name__ == '__main__':
    parent = os.getppid()
    _watch(socket.socket(fileno=int(sys.argv[1])), parent, {int(pid) for pid in sys.argv[2:]})
