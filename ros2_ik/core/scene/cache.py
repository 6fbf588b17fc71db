"""
Results that cost time, kept in the process and on disk under a digest of what they came from.

The folder is $XDG_CACHE_HOME/ros2_ik (~/.cache/ros2_ik). Where it cannot be written, or a file
in it cannot be read, things are computed anew.
"""

from collections import OrderedDict
from collections.abc import Callable
import hashlib
import os
from pathlib import Path
import tempfile
from typing import Any
import zipfile

import numpy as np
import numpy.typing as npt

from ros2_ik.core.scene.kept import fork_safe_lock

Arrays = dict[str, npt.NDArray[Any]]
_KEPT_BYTES = 200_000_000
_memory: OrderedDict[str, Arrays] = OrderedDict()
_keeping, _reading = fork_safe_lock(), fork_safe_lock()


def digest(*parts: bytes | str) -> str:
    """Return a name made of the parts' content; the same parts cut differently differ."""
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, 'little'))
        found.update(content)
    return found.hexdigest()


def remembered(room: str, key: str, make: Callable[[], Arrays], disk: bool = True) -> Arrays:
    """
    Return what `make` gives, from memory or disk where it was made before.

    `room` is a folder of the cache; its name changes with the meaning of what is in it. What is
    made faster than it is read is not worth the `disk`. The arrays are read-only.
    """
    name = f'{room}/{key}'
    found = _memory.get(name)
    if found is None:
        found = _from_disk(_folder() / room / f'{key}.npz', make) if disk else make()
        _keep(name, found)
    return found


def is_remembered(room: str, key: str) -> bool:
    """Return whether `remembered` would find it in memory or on disk."""
    return f'{room}/{key}' in _memory or (_folder() / room / f'{key}.npz').exists()


def _from_disk(path: Path, make: Callable[[], Arrays]) -> Arrays:
    found = _read(path)
    if found is None:
        found = make()
        _write(path, found)
    return found


def _keep(name: str, arrays: Arrays) -> None:
    """Keep arrays in memory, and drop the oldest others while there are too many bytes."""
    for array in arrays.values():
        array.setflags(write=False)
    with _keeping:
        _memory[name] = arrays
        size = sum(array.nbytes for kept in _memory.values() for array in kept.values())
        while size > _KEPT_BYTES and len(_memory) > 1:
            _, dropped = _memory.popitem(last=False)
            size -= sum(array.nbytes for array in dropped.values())


def forget() -> None:
    """Drop what is in memory, not what is on disk."""
    with _keeping:
        _memory.clear()


def _folder() -> Path:
    try:
        home = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    except RuntimeError:    # no home
        home = Path(tempfile.gettempdir())
    return home / 'ros2_ik'


def _read(path: Path) -> Arrays | None:
    try:
        # numpy parses headers with `ast`, which fails in CPython 3.11 where threads do so at once:
        # SystemError: AST constructor recursion depth mismatch
        with _reading, np.load(path, allow_pickle=False) as content:
            return dict(content)
    except (OSError, ValueError, EOFError, KeyError, SystemError, zipfile.BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    """Write a file that is there whole or not at all, as others may read it just now."""
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
