"""The definitions of messages and of the goal, as the interface files have them."""

from functools import lru_cache
from pathlib import Path
import re
from typing import Any, NamedTuple

import yaml

from ros2_ik.cli.foreign_interfaces import FOREIGN
from ros2_ik.cli.question import BadQuestion

GOAL = 'SolveConstrainedIK'
_FIELD = re.compile(r'^([\w/]+)(\[(?:<=)?\d*\])?\s+([a-z]\w*)(?:\s+(?!=)(.+))?$')


class Field(NamedTuple):
    """
    A field: its type, whether it is an array, its default.

    An array has `size` items (None: any number), `most` at most (None: as many as there are).
    """

    type: str
    array: bool
    size: int | None
    most: int | None
    default: Any


@lru_cache(maxsize=128)
def fields(kind: str) -> dict[str, Field]:
    """
    Return the fields of a message such as 'geometry_msgs/Pose', or of the goal, by name.

    Raises KeyError for one that is not known.
    """
    package, _, name = kind.rpartition('/')
    if package == 'ros2_ik':
        text = _goal() if name == GOAL else (_folder('msg') / f'{name}.msg').read_text('utf-8')
    else:
        text = FOREIGN[kind]
    found = {}
    for line in text.splitlines():
        if match := _FIELD.match(line.partition('#')[0].strip()):
            type, array, field, default = match.groups()
            found[field] = Field(_full(type, package), array is not None, *_sizes(array),
                                 None if default is None else yaml.safe_load(default))
    return found


def is_message(type: str) -> bool:
    """Return whether a type is a message, not a number, a truth value or a text."""
    return '/' in type


def _goal() -> str:
    return (_folder('action') / f'{GOAL}.action').read_text('utf-8').partition('\n---\n')[0]


def _folder(name: str) -> Path:
    """msg/ and action/ are installed into the package; in a checkout they stand beside it."""
    package = Path(__file__).parents[1]
    for folder in (package / 'interfaces' / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise BadQuestion(f'the installation is broken: no folder {name} in {package / "interfaces"}')


def _full(type: str, package: str) -> str:
    """Return a type with its package: those of the same one may be without."""
    return f'{package}/{type}' if type[0].isupper() else type


def _sizes(array: str | None) -> tuple[int | None, int | None]:
    """Return the number of items, and the largest: [4] has both, [<=3] the latter, [] neither."""
    number = (array or '[]')[1:-1]
    if number.startswith('<='):
        return None, int(number[2:])
    return (int(number), int(number)) if number else (None, None)
