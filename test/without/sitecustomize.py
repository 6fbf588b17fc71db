"""
Modules that are not to be found, though they are installed: those in ROS2_IK_WITHOUT.

Python imports this file by its name where its folder is on PYTHONPATH, in processes started by
the tests, too: PYTHONPATH=test/without ROS2_IK_WITHOUT='viser fcl' pytest.
"""

from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
import os
import sys
from types import ModuleType

WITHOUT = frozenset(os.environ.get('ROS2_IK_WITHOUT', '').split())


class Finder(PathFinder):
    """Finds what is installed, but for what is not to be found."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        return None if name in WITHOUT else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
