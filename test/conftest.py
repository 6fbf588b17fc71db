"""What all tests need."""

from importlib.machinery import ModuleSpec, PathFinder
import os
import signal
import sys

import pytest

# Who starts the tests in the background has Ctrl-C ignored, and processes inherit that: those
# that tests interrupt would never notice.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

JUDGES = {'fcl': 'python-fcl', 'trimesh': 'trimesh', 'yourdfpy': 'yourdfpy'}
WITHOUT = os.environ.get('ROS2_IK_WITHOUT', '').split()     # see without/sitecustomize.py


class MissingJudges:
    """
    Tests that import a judge which is not installed are skipped, and say so.

    package.xml cannot bring these libraries.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name in JUDGES and (name in WITHOUT or not PathFinder.find_spec(name)):
            pytest.skip(f'{name} judges here and is not installed; pip install {JUDGES[name]}',
                        allow_module_level=True)
        return None


sys.meta_path.insert(0, MissingJudges)
