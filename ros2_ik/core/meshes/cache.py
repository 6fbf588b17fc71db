"""
Cache of slow results, in the process and on disk, by a digest of their input.

The folder is $XDG_CACHE_HOME/ros2_ik (~/.cache/ros2_ik). Where it cannot be written, or a file
in it cannot be read, results are made anew. Without locks: a forked process could not free them,
and what two threads make at the same time is equal.
"""

from collections.abc import Callable
import hashlib
import os
from pathlib import Path
import tempfile
from typing import Any
import zipfile

import numpy as np
import numpy.typing as npt

from ros2_ik.core.lru_cache import LRUCache

Arrays = dict[str, npt.NDArray[Any]]
_memory: LRUCache[str, Arrays] = LRUCache(512)


def digest(*parts: bytes | str) -> str:
    """Return a name made of the parts' content; the same parts cut differently differ."""
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, 'little'))
        found.update(content)
    return found.hexdigest()


def cached(namespace: str, key: str, make: Callable[[], Arrays], disk: bool = True) -> Arrays:
    """
    Return the read-only arrays of `make`, from memory or disk where they were made before.

    `namespace` is a folder of the cache; its name changes with the meaning of what is in it.
    `disk` is False for what is made faster than it is read.
    """
    def read_only() -> Arrays:
        found = _from_disk(_path(name), make) if disk else make()
        for array in found.values():
            array.setflags(write=False)
        return found
    name = f'{namespace}/{key}'
    return _memory.get(name, read_only)


def is_cached(namespace: str, key: str) -> bool:
    """Return whether `cached` would find it in memory or on disk."""
    name = f'{namespace}/{key}'
    return name in _memory or _path(name).exists()


def _path(name: str) -> Path:
    try:
        home = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    except RuntimeError:    # no home
        home = Path(tempfile.gettempdir())
    return home / 'ros2_ik' / f'{name}.npz'


def _from_disk(path: Path, make: Callable[[], Arrays]) -> Arrays:
    try:
        # in CPython 3.11 numpy's parser of headers fails where threads use it at the same time:
        # SystemError: AST constructor recursion depth mismatch
        with np.load(path, allow_pickle=False) as content:
            return dict(content)
    except (OSError, ValueError, EOFError, KeyError, SystemError, zipfile.BadZipFile):
        found = make()
    _write(path, found)
    return found


def _write(path: Path, arrays: Arrays) -> None:
    """Write a file atomically: other processes may read it at the same time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix='.part')
    except OSError:
        return
    try:
        with os.fdopen(handle, 'wb') as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
