"""
Messages of function kinds as the functions themselves.

Nothing here is about a single kind: the fields of a kind's message are the parameters of the
constructor in core, in lower case.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
import inspect
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from ros2_ik.core import (
    CollisionChecker,
    function_kinds,
    JointPositions,
    KinematicFunction,
    Robot,
    Status,
)
from ros2_ik.node.conversions.blame import wrong
from ros2_ik.node.conversions.frames import link_name
from ros2_ik.node.conversions.poses import placement

MAX_ITEMS = 10_000          # of an array in a message
MAX_ROWS = 1000             # of a function, and of all that a request has together
LOCAL = ('user_function',)  # kinds that cannot travel: they are Python code
SUPPLIED = 'checker'        # the parameter that no message has: it comes from the scene


@lru_cache(maxsize=1)
def message_kinds() -> Mapping[str, type[KinematicFunction]]:
    """Functions that messages can ask for, by kind, which is their field in IKConstraints."""
    return MappingProxyType({kind: function for kind, function in sorted(function_kinds().items())
                             if kind not in LOCAL})


@lru_cache(maxsize=64)
def parameters(kind: str) -> Mapping[str, inspect.Parameter]:
    """Parameters of a kind's constructor, by the name of the message's field."""
    found = inspect.signature(message_kinds()[kind]).parameters
    return MappingProxyType({name.lower(): parameter for name, parameter in found.items()})


def measures_distances(kind: str) -> bool:
    """Whether functions of a kind need a collision checker."""
    return SUPPLIED in parameters(kind)


def make_function(kind: str, message: Any, robot: Robot,
                  checker: CollisionChecker | None = None) -> KinematicFunction:
    """
    Make the function that a message describes.

    Raises Refusal and IKError, which name the field.
    """
    given: dict[str, Any] = {}
    for field, parameter in parameters(kind).items():
        if field == SUPPLIED:
            given[field] = checker
        elif field in ('frame', 'relative_to'):
            given[field] = _frame(getattr(message, field), robot, parameter)
        else:
            given[field] = _value(getattr(message, field), parameter, field)
    for field, columns in _COLUMNS.items():
        if field in given:
            given[field] = _in_rows(given[field], columns(given, robot), field)
    function = message_kinds()[kind](**{parameter.name: given[field] for field, parameter
                                        in parameters(kind).items()})
    return function.bind(robot)   # what does not fit the robot is refused here, by its name


def _frame(name: str, robot: Robot, parameter: inspect.Parameter) -> str | None:
    if not name and not _optional(parameter):
        raise wrong(f'{parameter.name} is empty; it takes a link or another frame of the robot',
                    Status.INVALID_LINK_NAME)
    return link_name(robot, name, parameter.name) if name else None


def _value(field: Any, parameter: inspect.Parameter, place: str) -> Any:
    if isinstance(field, str):
        return field or (None if _optional(parameter) else field)
    if isinstance(field, (bool, int, float)):
        if parameter.name == 'rows' and field > MAX_ROWS:
            raise wrong(f'{place} is {field}; at most {MAX_ROWS} are taken')
        return field
    if hasattr(field, 'orientation'):
        return placement(field.position, field.orientation, place)
    return _xyz(field) if hasattr(field, 'x') else _items(field, parameter, place)


def _items(field: Any, parameter: inspect.Parameter, place: str) -> Any:
    """Read an array; empty ones stand for what the constructor takes when nothing is said."""
    if len(field) > MAX_ITEMS:
        raise wrong(f'{place} has {len(field)} items; at most {MAX_ITEMS} are read')
    if not len(field):
        if parameter.default is not parameter.empty:
            return parameter.default
        return None if _optional(parameter) else []
    if len(field) == 1 and float in get_args(parameter.annotation):
        return field[0]
    return [_xyz(item) if hasattr(item, 'x') else item for item in field]


def _xyz(field: Any) -> list[float]:
    return [field.x, field.y, field.z]


def _optional(parameter: inspect.Parameter) -> bool:
    return type(None) in get_args(parameter.annotation)


def _in_rows(numbers: Any, columns: int, place: str) -> Any:
    """Fold the numbers of a matrix, which messages have row by row."""
    if not columns or not len(numbers) or len(numbers) % columns:
        raise wrong(f'{place} has {len(numbers)} numbers; it takes {columns} a row, row by row')
    if len(numbers) > MAX_ROWS * columns:
        raise wrong(f'{place} has {len(numbers) // columns} rows; at most {MAX_ROWS} are taken')
    return np.reshape(numbers, (-1, columns))


def _joint_rows(given: Mapping[str, Any], robot: Robot) -> int:
    """Count the columns that joints take: a floating one six."""
    return len(JointPositions(given['names']).bind(robot).labels)


_COLUMNS: Mapping[str, Callable[[Mapping[str, Any], Robot], int]] = {
    'a': lambda given, robot: 3 * len(given['points']),
    'ratios': _joint_rows}
