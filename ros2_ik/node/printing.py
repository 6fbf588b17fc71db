"""
What the node prints is lost rather than waited for.

A pipe that nobody reads, as of a stopped launch, is full some day, a terminal takes nothing after
Ctrl-S, a journal may be held up: whoever writes there waits, with the arm in motion.
"""

from contextlib import suppress
import fcntl
import io
import os
import select
import signal
import stat
import sys

ROOM = 1 << 20   # of a pipe, so that nothing is lost while its reader is only slow [bytes]
PATIENCE = 50    # with a terminal, which has room for 4 kB [ms]
PIECE = 4096     # bytes


def print_without_waiting() -> None:
    """
    Let this process, and what it starts, never wait for who reads its stdout and stderr.

    Both are opened again, since others may write to what they are. Where that is not allowed (a
    socket, another user's pipe or terminal) a process beside this one waits in its place. Files
    never wait; what is closed leads nowhere.
    """
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            kind = os.fstat(number).st_mode
        except OSError:   # closed: the next thing to be opened would be taken for it
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(number, 'w' if number else 'r', closefd=False))
            continue
        if number == 0 or not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(number)):
            continue
        again = _opened_again(number)
        os.dup2(again, number)
        os.close(again)
        with suppress(OSError):   # a terminal's
            fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, ROOM)
        setattr(sys, name, io.TextIOWrapper(
            io.BufferedWriter(_Losing(number)), getattr(getattr(sys, name), 'encoding', None),
            'backslashreplace', line_buffering=True))


def _opened_again(number: int) -> int:
    """Return a descriptor by which nobody waits, that leads where `number` does."""
    try:
        return os.open(f'/proc/self/fd/{number}', os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        reading, writing = os.pipe()
        if not (child := os.fork()):
            if not os.fork():   # no child of the node: these it kills at its end
                os.close(writing)
                _hand_on(reading, number)
            os._exit(0)
        os.waitpid(child, 0)
        os.close(reading)
        os.set_blocking(writing, False)
        return writing


def _hand_on(reading: int, writing: int) -> None:
    """Copy all that comes, to the end of the node, whatever signals its group gets."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    with suppress(OSError):   # who reads it is gone
        while data := os.read(reading, PIECE):
            while data:
                data = data[os.write(writing, data):]


class _Losing(io.FileIO):
    """Says that all was written also where nothing could be, the first time after a moment."""

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
