"""A child process whose output is kept, so that its end can be explained."""

from collections import deque
from collections.abc import Iterable, Sequence
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

TAIL = 20         # lines
PATIENCE = 3.0    # seconds for all to end
LIBC = ctypes.CDLL(None) if sys.platform == 'linux' else None
PR_SET_PDEATHSIG, SIGTERM = 1, int(signal.SIGTERM)


def prepare() -> None:
    """
    Run in a new child, before its program.

    The kernel ends it when the demo ends without a word (SIGKILL). Ctrl-C reaches the whole
    process group: until the child has a handler of its own, the demo alone decides.
    """
    if LIBC:
        LIBC.prctl(PR_SET_PDEATHSIG, SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Child:
    """A running program; `echo` says whether its output is shown as it comes."""

    def __init__(self, name: str, command: Sequence[str], echo: bool) -> None:
        self.name, self._echo = name, echo
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors='replace', env=os.environ | {'PYTHONUNBUFFERED': '1'},
            preexec_fn=prepare)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._tail.append(line)
            if self._echo:
                sys.stderr.write(line)

    @property
    def dead(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def exit_report(self) -> str:
        """Return how it ended, and its last words."""
        self._reader.join(1.0)
        lines = ''.join(f'    {line}' for line in self._tail).rstrip()
        return (f'{self.name} has ended with exit code {self._process.poll()}'
                + (f', after saying:\n{lines}' if lines else ' without a word'))

    def terminate(self) -> None:
        """Ask it to end."""
        if not self.dead:
            self._process.terminate()

    def wait(self, seconds: float) -> int:
        """Wait for its end, which comes by force after `seconds`; gives the exit code."""
        try:
            return self._process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def end(children: Iterable[Child]) -> dict[str, int]:
    """End all that still run; gives their exit codes by name."""
    running = [child for child in children if not child.dead]
    deadline = time.monotonic() + PATIENCE
    for child in running:
        child.terminate()
    return {child.name: child.wait(deadline - time.monotonic()) for child in running}
