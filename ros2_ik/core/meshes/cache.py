"""
Disk cache of results that are slow to compute; the key is a digest of the input.

The folder is $XDG_CACHE_HOME/ros2_ik (default: ~/.cache/ros2_ik). If the folder cannot be written
or a file cannot be read, the result is computed again. There are no locks: a forked process could
not release a lock held by its parent, and two threads that compute an entry get equal results.
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

Arrays = dict[str, npt.NDArray[Any]]


def digest(*parts: bytes | str) -> str:
    """Return the SHA-256 digest of all parts, as hexadecimal digits."""
    sha = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        # the length first, so that ('ab', 'c') and ('a', 'bc') have different digests
        sha.update(len(content).to_bytes(8, 'little'))
        sha.update(content)
    return sha.hexdigest()


def cached(namespace: str, key: str, make: Callable[[], Arrays]) -> Arrays:
    """
    Return the read-only arrays of an entry; if not on disk, call `make` and store its result.

    `namespace` is a folder of the cache; rename it when the content or format of its files
    changes.
    """
    path = _path(namespace, key)
    try:
        # SystemError: in CPython 3.11 numpy's header parser fails if two threads use it at the
        # same time ("AST constructor recursion depth mismatch")
        with np.load(path, allow_pickle=False) as content:
            arrays = dict(content)
    except (OSError, ValueError, EOFError, KeyError, SystemError, zipfile.BadZipFile):
        arrays = make()
        _write(path, arrays)
    for array in arrays.values():
        array.setflags(write=False)
    return arrays


def is_cached(namespace: str, key: str) -> bool:
    """Return whether the entry `namespace`/`key` is on disk."""
    return _path(namespace, key).exists()


def _path(namespace: str, key: str) -> Path:
    try:
        home = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    # Path.home() fails for a user without a home directory, as in some containers
    except RuntimeError:
        home = Path(tempfile.gettempdir())
    return home / 'ros2_ik' / namespace / f'{key}.npz'


def _write(path: Path, arrays: Arrays) -> None:
    """Write a file atomically, because other processes may read the file at the same time."""
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
