"""
Compiled inner loops: optional, for speed alone, never needed for a right answer.

Nothing here is compiled until `load_kernels()` is called: the first time takes seconds, from
numba's cache on disk half a second. Until then, and without numba, plain Python does the same.
"""

import os
from pathlib import Path
import tempfile
from typing import Any

_loaded: dict[str, Any] = {}


def load_kernels() -> bool:
    """Compile the inner loops, or load them from the cache; False where numba is missing."""
    if not _loaded:
        _choose_cache()
        try:
            import numba  # noqa: F401
        except ImportError:
            return False
        from ros2_ik.core.kernels.pose_descent import descend
        _loaded['pose_descent'] = descend
    return True


def kernel(name: str) -> Any:
    """Give a compiled function, or None before `load_kernels()`."""
    return _loaded.get(name)


def _choose_cache() -> None:
    """
    Name a folder that can be written to.

    numba keeps its cache beside the source by default, and raises where that is read-only.
    """
    if 'NUMBA_CACHE_DIR' in os.environ:
        return
    home = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    folder = home / 'ros2_ik' / 'numba'
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.environ['NUMBA_CACHE_DIR'] = str(folder)
    except OSError:   # a read-only home
        os.environ['NUMBA_CACHE_DIR'] = tempfile.mkdtemp(prefix='ros2_ik_numba_')
