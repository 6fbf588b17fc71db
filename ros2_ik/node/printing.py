"""
What the node prints is lost rather than waited for.

A pipe that nobody reads, as of a stopped launch, is full some day, and a terminal takes nothing
after Ctrl-S: whoever writes there waits, with the arm in motion.
"""

from contextlib import suppress
import fcntl
import io
import os
import select
import stat
import sys

ROOM = 1 << 20   # of a pipe, so that nothing is lost while its reader is only slow [bytes]
PATIENCE = 50   # with a terminal, which has room for 4 kB [ms]


def print_without_waiting() -> None:
    """
    Let this process, and what it starts, never wait for who reads its stdout and stderr.

    Both are opened again, since others may write to what they are. What cannot be (a socket,
    another user's terminal) stays as it is. Files never wait.
    """
    for number, name in ((1, 'stdout'), (2, 'stderr')):
        with suppress(OSError):
            if stat.S_ISFIFO(os.fstat(number).st_mode) or os.isatty(number):
                again = os.open(f'/proc/self/fd/{number}',
                                os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
                os.dup2(again, number)
                os.close(again)
                setattr(sys, name, io.TextIOWrapper(
                    io.BufferedWriter(_Losing(number, 'w', closefd=False)),
                    errors='backslashreplace', line_buffering=True))
                fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, ROOM)


class _Losing(io.FileIO):
    """Says that all was written also where nothing could be, after a moment."""

    def write(self, data: bytes) -> int:   # type: ignore[override]
        written = super().write(data)
        if written is None:   # no room
            room = select.poll()
            room.register(self, select.POLLOUT)
            room.poll(PATIENCE)
            written = super().write(data)
        return len(data) if written is None else written
