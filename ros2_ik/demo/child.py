"""Child processes of the demo."""

from collections.abc import Iterable, Sequence
import ctypes
import signal
import subprocess
import sys
import tempfile
import time

TAIL = 20         # lines of a child's output in its exit report
PATIENCE = 3.0    # seconds for all children to end
LIBC = ctypes.CDLL(None) if sys.platform == 'linux' else None
PR_SET_PDEATHSIG, SIGTERM = 1, int(signal.SIGTERM)


def prepare() -> None:
    """
    Prepare a new child, before its program: it ends with the demo, and ignores Ctrl-C.

    Ctrl-C reaches the whole process group; the demo then ends its children.
    """
    if LIBC:
        LIBC.prctl(PR_SET_PDEATHSIG, SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Child:
    """A running program; its output goes to stderr or, without `echo`, to a temporary file."""

    def __init__(self, name: str, command: Sequence[str], echo: bool) -> None:
        self.name = name
        self._log = None if echo else tempfile.TemporaryFile('w+', errors='replace')
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=prepare,
                                         stdout=self._log or sys.stderr, stderr=subprocess.STDOUT)

    @property
    def dead(self) -> bool:
        """True if the program has ended."""
        return self._process.poll() is not None

    def exit_report(self) -> str:
        """Return the exit code, and the last lines of output that was not shown."""
        report = f'{self.name} has ended with exit code {self._process.poll()}'
        if self._log is None:
            return report
        self._log.seek(0)
        return ''.join([f'{report}, its last output:\n', *self._log.readlines()[-TAIL:]]).rstrip()

    def terminate(self) -> None:
        """Ask the program to end."""
        if not self.dead:
            self._process.terminate()

    def wait(self, seconds: float) -> int:
        """Return the exit code; kills the program after `seconds`."""
        try:
            return self._process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def end(children: Iterable[Child]) -> dict[str, int]:
    """End all children that still run; returns their exit codes by name."""
    running = [child for child in children if not child.dead]
    deadline = time.monotonic() + PATIENCE
    for child in running:
        child.terminate()
    return {child.name: child.wait(deadline - time.monotonic()) for child in running}
