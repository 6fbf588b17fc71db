"""
Hide the installed modules that ROS2_IK_WITHOUT names.

Python imports sitecustomize.py at startup if the folder is on PYTHONPATH, also in child
processes of the tests: PYTHONPATH=test/without ROS2_IK_WITHOUT='viser fcl' pytest.
"""

from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
import os
import sys
from types import ModuleType

HIDDEN = frozenset(os.environ.get('ROS2_IK_WITHOUT', '').split())


class HidingFinder(PathFinder):
    """Path finder that does not find the hidden modules."""

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        return None if name in HIDDEN else super().find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = HidingFinder
