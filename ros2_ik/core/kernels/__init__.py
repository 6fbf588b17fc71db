"""
Inner loops, compiled by numba: for speed alone, never needed for a right answer.

Nothing here is compiled until `load_kernels()` is called: the first time takes up to a minute,
from numba's cache on disk half a second. Until then, and without numba, the same source runs as
plain Python.
"""

from contextlib import suppress
import threading
import warnings

from ros2_ik.core.kernels.cache import (
    alone,
    choose_folder,
    emptied,
    is_complete,
    set_complete,
    share_between_checkouts,
)
from ros2_ik.core.kernels.source import compile_all, is_compiled

_loading = threading.Lock()


def load_kernels() -> bool:
    """
    Compile the inner loops, or load them from the cache.

    False where numba is missing, and, with a RuntimeWarning, where it fails for whatever reason:
    a full disk, too little memory, a broken installation. To try again later does no harm. A
    damaged cache is filled anew.
    """
    with _loading:
        try:
            return is_compiled() or _load()
        except Exception as error:
            warnings.warn('the inner loops are not compiled; plain Python does the same, slower: '
                          f'{type(error).__name__}: {error}', RuntimeWarning, stacklevel=2)
            return False


def kernels_cached() -> bool:
    """Return whether `load_kernels()` would find all compiled: a matter of half a second."""
    return is_complete()


def _load() -> bool:
    choose_folder()
    try:
        import numba
        # whoever has imported it before has no folder named
        numba.config.reload_config()    # type: ignore[no-untyped-call]
    except ModuleNotFoundError as error:
        if error.name == 'numba':
            return False
        raise
    share_between_checkouts()
    with suppress(Exception):   # then files are damaged, of which numba tells in many ways
        if is_complete():
            compile_all()
            return True
    with alone():
        try:
            compile_all()
        except Exception as error:
            if isinstance(error, OSError | MemoryError) or not emptied():
                raise
            compile_all()
        with suppress(OSError):   # then the next start looks again
            set_complete()
    return True
