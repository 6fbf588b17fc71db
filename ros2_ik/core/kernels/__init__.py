"""
Compiled inner loops: optional, for speed alone, never needed for a right answer.

Nothing here is compiled until `load_kernels()` is called: the first time takes seconds, from
numba's cache on disk half a second. Until then, and without numba, plain Python does the same.
"""

import hashlib
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
        from ros2_ik.core.kernels import cost_descent, pose_descent, row_descent, rows
        _loaded.update(pose_descent=pose_descent.descend, row_descent=row_descent.descend,
                       cost_descent=cost_descent.descend, rows=rows.evaluate)
    return True


def kernel(name: str) -> Any:
    """Give a compiled function, or None before `load_kernels()`."""
    return _loaded.get(name)


def _choose_cache() -> None:
    """
    Name a folder of this version of the sources that can be written to.

    numba keeps its cache beside the source by default, raises where that is read-only, and does
    not see that a function changed which another file's calls.
    """
    if 'NUMBA_CACHE_DIR' in os.environ:
        return
    sources = sorted(Path(__file__).parent.glob('*.py'))
    version = hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:12]
    try:
        home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
        folder = Path(home) / 'ros2_ik' / f'numba-{version}'
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.environ['NUMBA_CACHE_DIR'] = str(folder)
    except (OSError, RuntimeError):   # a read-only home, or none
        os.environ['NUMBA_CACHE_DIR'] = tempfile.mkdtemp(prefix='ros2_ik_numba_')
