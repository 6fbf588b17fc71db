"""numba's cache of compiled loops: found by the content of the sources, not by their path."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, ExitStack, suppress
import fcntl
import hashlib
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import sys
import tempfile
from typing import Any

from ros2_ik.core.kernels.source import PACKAGE, sources

ROOM = 16 << 20   # free bytes that a folder must have; the compiled loops take 4.3 MB


def choose_folder() -> Path:
    """
    Set NUMBA_CACHE_DIR to a writable folder for these sources and return it.

    By default numba writes beside the source, raises where that is read-only, and misses changes
    of functions in other files. Raises OSError if no folder is writable.
    """
    named = os.environ.get('NUMBA_CACHE_DIR')
    os.environ['NUMBA_CACHE_DIR'] = str(_usable([Path(named)] if named else _own_folders()))
    return Path(os.environ['NUMBA_CACHE_DIR'])


def _usable(folders: Iterable[Path]) -> Path:
    """Return the first that can be written to; raises OSError."""
    refused = []
    for folder in folders:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check(folder)
            return folder
        except OSError as error:
            refused.append(f'{folder}: {error.strerror or error}')
    raise OSError('no folder for compiled code; set NUMBA_CACHE_DIR to one with '
                  f'{ROOM >> 20} MB to write to ({"; ".join(refused)})')


def _own_folders() -> Iterator[Path]:
    return (home / f'numba-{sources_hash()}' for home in _homes())


def sources_hash() -> str:
    """Return a hash of the text of all sources with compiled functions."""
    text = b''.join(Path(source).read_bytes() for source in sources())
    return hashlib.sha256(text).hexdigest()[:12]


def share_between_checkouts() -> None:
    """Make numba find compiled functions by content, wherever the package is imported from."""
    from numba.core import caching
    stamp = sources_hash()

    class ContentLocator(caching._CacheLocator):
        def __init__(self, function: Callable[..., Any], path: str) -> None:
            self._py_file = path    # numba reads this one in its warnings
            self._line = function.__code__.co_firstlineno

        @classmethod
        def from_function(cls, function: Callable[..., Any], path: str) -> Any:
            return cls(function, path) if PACKAGE in Path(path).parents else None

        def get_cache_path(self) -> str:
            room = Path(self._py_file).parent.relative_to(PACKAGE)
            return os.path.join(os.environ['NUMBA_CACHE_DIR'], '.'.join(room.parts))

        def get_source_stamp(self) -> str:
            return stamp

        def get_disambiguator(self) -> str:
            return str(self._line)

    # named _CacheImpl until numba 0.60
    implementation = getattr(caching, 'CacheImpl', None) or caching._CacheImpl  # type: ignore[attr-defined]
    implementation._locator_classes = [ContentLocator, *implementation._locator_classes]


def _homes() -> Iterator[Path]:
    try:
        yield Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'ros2_ik'
    except RuntimeError:   # no home
        pass
    temporary = Path(tempfile.gettempdir()) / f'ros2_ik-{os.getuid()}'
    temporary.mkdir(mode=0o700, exist_ok=True)
    about = temporary.lstat()   # code is run from there: nobody else may write to it
    if about.st_uid == os.getuid() and not about.st_mode & 0o022 and not temporary.is_symlink():
        yield temporary


def _check(folder: Path) -> None:
    """Raise OSError unless a folder is filled, or can be."""
    if not any(folder.glob('complete-*')):
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
            file.flush()


def is_complete() -> bool:
    """Return whether to load all is a matter of half a second, not of compiling it."""
    try:
        known = json.loads(_list_of_files().read_text())
        found = _files()
        return bool(known) and all(found.get(name) == size for name, size in known.items())
    except (OSError, ValueError, ImportError):
        return False


def set_complete() -> None:
    """Write down that all is there."""
    path = _list_of_files()
    with tempfile.NamedTemporaryFile('w', dir=path.parent, delete=False) as file:
        json.dump(_files(), file)
    os.replace(file.name, path)


def emptied() -> bool:
    """Remove what is there, as it may be damaged; return whether there was anything."""
    folder, names = choose_folder(), list(_files())
    for name in names:
        (folder / name).unlink(missing_ok=True)
    return bool(names)


@contextmanager
def alone() -> Iterator[None]:
    """Keep other processes from filling the cache meanwhile."""
    with ExitStack() as stack:
        with suppress(OSError):   # a file system without locks: then both do it
            file = stack.enter_context(open(choose_folder() / 'lock', 'w'))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _files() -> dict[str, int]:
    folder = choose_folder()
    return {str(path.relative_to(folder)): path.stat().st_size
            for path in folder.glob('*/*.nb[ci]')}


def _list_of_files() -> Path:
    """Return the list of files for these sources, versions and processor."""
    from llvmlite import binding
    folder = choose_folder()
    text = sources_hash()
    settings = sorted(item for item in os.environ.items() if item[0].startswith('NUMBA_'))
    try:
        processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
        used = sys.version, version('numba'), version('llvmlite'), processor, settings, text
    except (PackageNotFoundError, RuntimeError) as error:
        raise ImportError(str(error)) from None
    key = hashlib.sha256(repr(used).encode()).hexdigest()[:12]
    return folder / f'complete-{key}'
