"""Search for the folder of a ROS package: near given folders, then in the ROS environment."""

from collections.abc import Iterator, Sequence
import os
from pathlib import Path
import re

# number of parent folders whose subfolders are searched
LEVELS = 3
_NAME = re.compile(r'<name>\s*([^<]+?)\s*</name>')


def package_candidates(package: str, near: Sequence[str]) -> Iterator[Path]:
    """
    Yield folders that may be the package, existing or not.

    Search subfolders, parents and siblings of the folders `near`, then folders of the environment
    variables AMENT_PREFIX_PATH and ROS_PACKAGE_PATH.
    """
    for folder in map(Path, near):
        yield folder / package
        above = (folder, *folder.parents)
        yield from (one for one in above if package in (one.name, _declared_name(one)))
        yield from (one / package for one in above[1:LEVELS + 1])
    for variable, inside in (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', '')):
        folders = filter(None, os.environ.get(variable, '').split(':'))
        yield from (Path(folder, inside, package) for folder in folders)


def _declared_name(folder: Path) -> str:
    """Return the name in the package.xml of a folder, or '' without a readable package.xml."""
    try:
        found = _NAME.search((folder / 'package.xml').read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return ''
    return found[1] if found else ''
