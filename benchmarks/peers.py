"""Packages that a benchmark compares with, or has its answers judged by."""

import sys
from typing import NoReturn

PACKAGES = {'fcl': 'python-fcl', 'pydrake': 'drake', 'trimesh': 'trimesh', 'yourdfpy': 'yourdfpy'}


def leave(absent: ImportError, text: str, needed: str) -> NoReturn:
    """
    End for want of a package, with the command that installs all `needed`.

    With --help it prints `text` first, the description of the benchmark, and all is well.
    Raises `absent` if it is of another module.
    """
    package = PACKAGES.get((absent.name or '').partition('.')[0])
    if package is None:
        raise absent
    reason = f'{package} is not installed: tools/run pip install {needed}'
    if {'-h', '--help'}.isdisjoint(sys.argv):
        sys.exit(reason)
    print(f'{text.strip()}\n\nThe options cannot be listed: {reason}')
    sys.exit(0)
