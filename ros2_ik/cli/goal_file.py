"""A goal of the action solve_constrained_ik from YAML: the fields as `ros2 action` takes them."""

from collections.abc import Mapping
from difflib import get_close_matches
import math
from pathlib import Path
from reprlib import Repr
from types import SimpleNamespace
from typing import Any

import yaml

from ros2_ik.cli.interfaces import Field, fields, GOAL, is_message
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import field_value, InvalidConstraintError, read_yaml

FUNCTION, BOUNDS = 'ros2_ik/Function', 'ros2_ik/Bounds'
_WHOLE = {f'{sign}int{bits}': (-2**(bits - 1) if not sign else 0,
                               2**(bits - bool(not sign)) - 1)
          for sign in ('', 'u') for bits in (8, 16, 32, 64)} | {'byte': (0, 255)}
_BRIEF = Repr()   # also of what aliases make larger than the memory
_BRIEF.maxlevel = 3


def read_goal(path: str) -> SimpleNamespace:
    """
    Read a file into an object with all fields of the goal, those not named at their defaults.

    Raises BadQuestion, which says where.
    """
    return goal_of(read_content(path))


def goal_of(content: Any) -> SimpleNamespace:
    """Return the same for what YAML has of a file."""
    return read_message(f'ros2_ik/{GOAL}', content, '')


def goal_text(path: str) -> str:
    """
    Return a file as `ros2 action send_goal` takes it, as one line of YAML.

    There the fields of functions are all parameters. Raises BadQuestion for what `read_goal` does.
    """
    content, known = read_content(path), fields(FUNCTION)
    goal_of(content)    # refuses what is wrong
    content = {name: [_function(item, known, name) for item in value]
               if name in ('constraints', 'costs') else value
               for name, value in content.items()}
    text: str = yaml.safe_dump(content, default_flow_style=True, sort_keys=False, width=math.inf)
    return text


def read_content(path: str) -> Any:
    """Return what YAML has of a file; raises BadQuestion."""
    try:
        content = read_yaml(Path(path).read_text('utf-8'))
    except OSError as error:
        raise BadQuestion(f"'{path}': {error.strerror}") from None
    except ValueError as error:
        raise BadQuestion(f"'{path}' is not YAML: {error}") from None
    return {} if content is None else content


def read_message(kind: str, content: Any, place: str) -> SimpleNamespace:
    """Make an object with the fields of a message out of what YAML has of it."""
    known = fields(kind)
    if kind == FUNCTION and isinstance(content, Mapping):
        content = _function(content, known, place)
    if not isinstance(content, Mapping):
        raise BadQuestion(f'{place or "the file"} must be {_form(kind)}, not {_short(content)}')
    for name in content:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f'valid: {", ".join(known)}'
            raise BadQuestion(f"{place or 'the goal'} has no field {_short(name)}; {hint}")
    return SimpleNamespace(**{
        name: _value(field, content.get(name), name in content, f'{place}.{name}'.lstrip('.'))
        for name, field in known.items()})


def _function(content: Mapping[str, Any], known: Mapping[str, Field],
              place: str) -> Mapping[str, Any]:
    """Make parameters of what stands beside the fields of a function's message."""
    if isinstance(bounds := content.get('bounds'), Mapping):
        content = {**content, 'bounds': _bounds(bounds)}
    short = {name: value for name, value in content.items() if name not in known}
    parameters = content.get('parameters', [])
    if not short or not isinstance(parameters, list):
        return content
    for name, value in short.items():
        try:
            given = {part: content for part, content in field_value(value)._asdict().items()
                     if content}
            parameters = [*parameters, {'name': str(name), **given}]
        except InvalidConstraintError as error:
            raise BadQuestion(f'{place}.{name}: {error}') from None
    return {**{name: content[name] for name in known if name in content},
            'parameters': parameters}


def _bounds(content: Mapping[str, Any]) -> dict[str, Any]:
    """Make lists of the bounds that are one number, as those of a single row."""
    rows = {name for name, field in fields(BOUNDS).items() if field.array}
    return {name: value if name not in rows or _number(value) is None else [_number(value)]
            for name, value in content.items()}


def _value(field: Field, content: Any, given: bool, place: str) -> Any:
    if not field.array:
        return _item(field, content if given else field.default, given, place)
    if not given:
        content = [0] * (field.size or 0)
    if not isinstance(content, list):
        raise BadQuestion(f'{place} must be a list, not {_short(content)}')
    if field.size not in (None, len(content)):
        raise BadQuestion(f'{place} must have {field.size} items, not {len(content)}')
    if field.most is not None and len(content) > field.most:
        raise BadQuestion(f'{place} must have at most {field.most} items, not {len(content)}')
    return [_item(field, item, True, f'{place}[{index}]') for index, item in enumerate(content)]


def _item(field: Field, content: Any, given: bool, place: str) -> Any:
    if is_message(field.type):
        return read_message(field.type, content if given else {}, place)
    if content is None and not given:
        return {'string': '', 'bool': False}.get(field.type,
                                                 0 if field.type in _WHOLE else 0.0)
    if field.type == 'string' and isinstance(content, str):
        return content
    if field.type == 'bool' and isinstance(content, bool):
        return content
    if field.type in _WHOLE and type(content) is int:
        least, most = _WHOLE[field.type]
        if least <= content <= most:
            return content
        raise BadQuestion(f'{place} is {content}; valid: {least} to {most}')
    if field.type.startswith('float') and (number := _number(content)) is not None:
        return number
    raise BadQuestion(f'{place} must be {_form(field.type)}, not {_short(content)}')


def _number(content: Any) -> float | None:
    """Take what YAML has as a number."""
    if isinstance(content, bool) or not isinstance(content, (int, float)):
        return None
    try:
        return float(content)
    except OverflowError:
        return None


def _form(type: str) -> str:
    if is_message(type):
        return '{' + ', '.join(f'{name}: ...' for name in fields(type)) + '}'
    return {'string': 'a text', 'bool': 'true or false'}.get(
        type, 'a number' if type.startswith('float') else 'a whole number')


def _short(content: Any) -> str:
    text = _BRIEF.repr(content) if isinstance(content, (list, dict, set)) else str(content)
    text = ' '.join(text.split())
    return f"'{text}'" if len(text) <= 40 else f"'{text[:40]}...'"
