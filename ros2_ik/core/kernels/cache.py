"""numba's cache of compiled code, keyed by the content of the sources instead of their path."""

from collections.abc import Callable
from functools import cache
import hashlib
import os
from pathlib import Path
import shutil
import sys
from typing import Any, TypeAlias, TypeVar

PACKAGE = Path(__file__).parents[2]
Options: TypeAlias = dict[str, Any]     # keyword arguments of njit and cfunc
OPTIONS: Options = {'nogil': True, 'error_model': 'numpy'}

Compiled = TypeVar('Compiled')
_sources = set[Path]()


def add_source(function: Callable[..., object]) -> None:
    """Include the file of a function in the cache's key, if the file is in this package."""
    if _is_own(function):
        _sources.add(Path(function.__code__.co_filename))


def _is_own(function: Callable[..., object]) -> bool:
    return PACKAGE in Path(function.__code__.co_filename).parents


def compiled(make: Callable[[Options], Compiled], function: Callable[..., object]) -> Compiled:
    """
    Return make(options), which compiles a function with numba or loads it from numba's cache.

    If the cache cannot be read or written (damaged, disk full), its folder is removed. Functions
    of other packages are not cached: numba would not notice changes of the functions they call.
    """
    from numba.core.errors import NumbaError
    if _is_own(function) and (folder := cache_folder()):
        # pattern for the function's index files in numba's cache
        name = f'{Path(function.__code__.co_filename).stem}.{function.__qualname__}-*.nbi'
        if not any(folder.glob(f'*/{name}')):
            _announce_compiling()
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
    """Return the sources' cache folder, created and registered with numba; None on failure."""
    text = b''.join(path.read_bytes() for path in sorted(_sources))
    try:
        named = os.environ.get('NUMBA_CACHE_DIR')
        folder = Path(named) if named else Path(
            os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache', 'ros2_ik')
        folder /= f'numba-{hashlib.sha256(text).hexdigest()[:12]}'
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:    # RuntimeError: no home directory
        print(f'ros2_ik: compiled code is not cached ({error}); set NUMBA_CACHE_DIR to a '
              'writable folder', file=sys.stderr)
        return None
    _add_locator(str(folder))
    return folder


def _add_locator(folder: str) -> None:
    # numba's own locators use one source file as the key and miss changes in other files
    from numba.core import caching

    class ContentLocator(caching._CacheLocator):
        def __init__(self, function: Callable[..., object], path: str) -> None:
            self._py_file = path    # numba reads it for its warnings
            self._line = function.__code__.co_firstlineno

        @classmethod
        def from_function(cls, function: Callable[..., object],
                          path: str) -> 'ContentLocator | None':
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
    """Print once in this process that functions are being compiled."""
    print('ros2_ik: compiling inner loops once; the result is cached on disk', file=sys.stderr,
          flush=True)
