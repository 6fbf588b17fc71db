"""
Brings the compiled inner loops to the node and its workers without a pause.

To compile takes a minute of computing: a child process of low priority does it and fills the
cache on the disk. Until then plain Python answers.
"""

from collections.abc import Callable
import ctypes
from importlib.util import find_spec
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from typing import Any
import warnings

from ros2_ik.core import kernels_cached, load_kernels
from ros2_ik.node.watchdog import SIGNALS

NICENESS = 19   # whoever has something to do goes first
PR_SET_PDEATHSIG = 1   # of <sys/prctl.h>
FAILED = 'the inner loops are not compiled'     # as `load_kernels` says it
UNTIL = 'plain Python answers, ten times slower'


class CompiledLoops:
    """`ready` is called, in a thread, when the compiled loops are there."""

    def __init__(self, log: Any, ready: Callable[[], None]) -> None:
        self._log, self._ready, self._closing = log, ready, False

    def start(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._run, name='compiled loops', daemon=True).start()

    def close(self) -> None:
        """Say nothing more: the process that compiles is killed with the node."""
        self._closing = True

    def _run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)   # the whole process group gets them
        try:
            if self._in_cache():
                self._load()
        except Exception:   # whatever it is, the node goes on without
            self._log.warning('the inner loops cannot be compiled; '
                              f'{UNTIL}:\n{traceback.format_exc()}')

    def _load(self) -> None:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            loaded = load_kernels()
        if loaded:
            self._ready()
        else:
            self._warn(str(said[-1].message) if said else 'numba is gone')

    def _warn(self, why: str) -> None:
        self._log.warning(why if why.startswith(FAILED) else f'{FAILED}; {UNTIL}: {why}')

    def _in_cache(self) -> bool:
        """Have them compiled, if need be; gives whether there is something to load."""
        if kernels_cached():
            return True
        if find_spec('numba') is None:
            self._log.info(f'numba is not installed: {UNTIL}')
            return False
        self._log.info(f'compiling the inner loops, about a minute; meanwhile {UNTIL}')
        began = time.monotonic()
        code = f'import sys; sys.path[:] = {sys.path!r}; from {__name__} import compile_all; ' \
               f'sys.exit(compile_all({os.getpid()}))'
        child = subprocess.run([sys.executable, '-c', code], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               errors='replace', check=False)
        if self._closing:
            return False
        if child.returncode:
            lines = child.stderr.strip().splitlines() or [f'exit code {child.returncode}']
            self._warn(lines[-1].strip())
            return False
        self._log.info(f'the inner loops are compiled, after {time.monotonic() - began:.0f} s')
        return True


def compile_all(parent: int) -> int:
    """Fill the cache, in a process of its own that ends with its parent; gives an exit code."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return 1
    os.nice(NICENESS)
    warnings.showwarning = lambda message, *_: print(message, file=sys.stderr)
    return 0 if load_kernels() else 1
