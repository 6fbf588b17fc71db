"""
SciPy's rooms: each is loaded when it is used first, which takes a third of a second.

By one thread at a time: of two that load some at once, one may find half of a module (KeyError
'numpy.f2py.cb_rules', Python 3.10).
"""

from importlib import import_module
from typing import Any

from ros2_ik.core.scene.kept import fork_safe_lock

_loading = fork_safe_lock()
ROOMS = 'linalg', 'optimize', 'sparse', 'spatial'


def load_scipy() -> None:
    """Load all that is used, for programs whose other threads import, too."""
    for name in ROOMS:
        __getattr__(name)


def __getattr__(name: str) -> Any:
    if name.startswith('_'):   # what is asked of any module
        raise AttributeError(name)
    with _loading:
        room = globals()[name] = import_module(f'scipy.{name}')
    return room
