"""numba's cache of compiled code, found by the content of the sources, not by their path."""

from collections.abc import Callable
from functools import cache
import hashlib
import os
from pathlib import Path
import shutil
import sys
import time
from typing import Any

PACKAGE = Path(__file__).parents[2]
OPTIONS: Any = {'nogil': True, 'error_model': 'numpy'}
QUIET = 1.0     # compiling for longer is announced [s]

_sources = set[Path]()


def add_source(function: Callable[..., Any]) -> None:
    """Let the cache depend on the file of a function, if that is of this package."""
    if _is_own(function):
        _sources.add(Path(function.__code__.co_filename))


def _is_own(function: Callable[..., Any]) -> bool:
    return PACKAGE in Path(function.__code__.co_filename).parents


def compiled(make: Callable[[dict[str, Any]], Any], function: Callable[..., Any]) -> Any:
    """
    Return what `make` makes of a function by numba's options, loaded from the cache if possible.

    A cache that fails, damaged or on a full disk, is removed. Functions of other packages are not
    kept: they may call parts that changed since.
    """
    from numba.core.errors import NumbaError
    _announce_compiling()
    if _is_own(function) and (folder := cache_folder()):
        try:
            return make({**OPTIONS, 'cache': True})
        except NumbaError:      # an error in the function
            raise
        except Exception as error:
            print(f'ros2_ik: removing the compiled code in {folder}: {error!r}', file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
    return make(OPTIONS)


@cache
def cache_folder() -> Path | None:
    """Return the folder of these sources, known to numba; None if it cannot be made."""
    text = b''.join(path.read_bytes() for path in sorted(_sources))
    try:
        named = os.environ.get('NUMBA_CACHE_DIR')
        folder = Path(named) if named else Path(
            os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache', 'ros2_ik')
        folder /= f'numba-{hashlib.sha256(text).hexdigest()[:12]}'
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:    # the latter: no home
        print(f'ros2_ik: compiled code is not kept ({error}); set NUMBA_CACHE_DIR to a writable '
              'folder', file=sys.stderr)
        return None
    _add_locator(str(folder))
    return folder


def _add_locator(folder: str) -> None:
    # numba's own locators find code by the path of its source, and miss changes of other files
    from numba.core import caching

    class ContentLocator(caching._CacheLocator):
        def __init__(self, function: Callable[..., Any], path: str) -> None:
            self._py_file = path    # numba reads it for its warnings
            self._line = function.__code__.co_firstlineno

        @classmethod
        def from_function(cls, function: Callable[..., Any], path: str) -> Any:
            return cls(function, path) if PACKAGE in Path(path).parents else None

        def get_cache_path(self) -> str:
            return os.path.join(folder, Path(self._py_file).parent.name)

        def get_source_stamp(self) -> str:
            return os.path.basename(folder)

        def get_disambiguator(self) -> str:
            return str(self._line)

    # named _CacheImpl until numba 0.60
    implementation = getattr(caching, 'CacheImpl', None) or caching._CacheImpl  # type: ignore[attr-defined]
    implementation._locator_classes = [ContentLocator, *implementation._locator_classes]


@cache
def _announce_compiling() -> None:
    """Print one line when numba has compiled for a second in this process."""
    from numba.core import event

    class Announcement(event.Listener):
        begun, spent, depth, is_printed = 0.0, 0.0, 0, False

        def on_start(self, event: Any) -> None:
            self.begun = self.begun if self.depth else time.monotonic()
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            self.spent += 0.0 if self.depth else time.monotonic() - self.begun
            if self.spent > QUIET and not self.is_printed:
                self.is_printed = True
                print('ros2_ik: compiling inner loops, once: the result is kept on disk',
                      file=sys.stderr, flush=True)

    # passes run where nothing is loaded
    event.register('numba:run_pass', Announcement())    # type: ignore[no-untyped-call]
