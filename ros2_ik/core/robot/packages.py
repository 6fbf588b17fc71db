"""Search for package folders: around given folders, then among those of ROS."""

from collections.abc import Iterator, Sequence
import os
from pathlib import Path
import re

LEVELS = 3      # folders above a given one in which a package is looked for beside it
_NAME = re.compile(r'<name>\s*([^<]+?)\s*</name>')


def package_places(package: str, near: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that may be a package, those around the folders `near` first."""
    for folder in map(Path, near):
        yield folder / package
        above = (folder, *folder.parents)
        yield from (one for one in above if package in (one.name, _declared_name(one)))
        yield from (one / package for one in above[1:LEVELS + 1])
    for variable, inside in (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', '')):
        folders = filter(None, os.environ.get(variable, '').split(':'))
        yield from (Path(folder, inside, package) for folder in folders)


def _declared_name(folder: Path) -> str:
    """Return the name that a folder's package.xml gives, which need not be the folder's; or ''."""
    try:
        found = _NAME.search((folder / 'package.xml').read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return ''
    return found[1] if found else ''
