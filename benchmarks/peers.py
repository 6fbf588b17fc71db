"""Packages that are compared with ros2_ik or judge its answers; the exit if one is missing."""

from pathlib import Path
import sys
from typing import NoReturn

TESTS = Path(__file__).parents[1] / 'test'
sys.path += [str(TESTS), str(TESTS / 'core')]    # judges: import peers before their users

PACKAGES = {'fcl': 'python-fcl', 'mink': 'mink', 'mujoco': 'mujoco', 'pink': 'pin-pink',
            'pydrake': 'drake', 'trimesh': 'trimesh', 'yourdfpy': 'yourdfpy'}    # by module


def exit_with_install_hint(absent: ImportError, text: str, needed: str) -> NoReturn:
    """
    Exit because a package is missing, with the command that installs all `needed` packages.

    With --help, print `text`, the description of the benchmark, first and exit with code 0.
    Raises `absent` if its module is not in PACKAGES.
    """
    package = PACKAGES.get((absent.name or '').partition('.')[0])
    if package is None:
        raise absent
    reason = f'{package} is not installed: tools/run pip install {needed}'
    if {'-h', '--help'}.isdisjoint(sys.argv):
        sys.exit(reason)
    print(f'{text.strip()}\n\nThe options cannot be listed: {reason}')
    sys.exit(0)
