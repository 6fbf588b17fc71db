"""Options of solvers, whose values messages have as text."""

from collections.abc import Callable
from typing import Any

from ros2_ik.node.conversions.error_context import wrong

MAX_OPTIONS = 100   # more than any solver has
LONGEST = 200       # characters, of a name or a value

_FLAGS = {'true': True, 'false': False}
_NUMBERS: tuple[Callable[[str], float], ...] = (int, float)


def read_options(pairs: Any) -> dict[str, Any]:
    """
    Read KeyValue messages: values are numbers, true or false, or words.

    Raises RequestError. Which names and values a solver takes, it says itself.
    """
    if len(pairs) > MAX_OPTIONS:
        raise wrong(f'solver_options has {len(pairs)} options; at most {MAX_OPTIONS} are read')
    options: dict[str, Any] = {}
    for index, pair in enumerate(pairs):
        for field, text in (('key', pair.key), ('value', pair.value)):
            if len(text) > LONGEST:
                raise wrong(f'solver_options[{index}].{field} has {len(text)} characters; '
                            f'at most {LONGEST} are read')
        if pair.key in options:
            raise wrong(f"solver_options has '{pair.key}' twice")
        options[pair.key] = _scalar(pair.value)
    return options


def _scalar(text: str) -> Any:
    for number in _NUMBERS:
        try:
            return number(text)
        except ValueError:
            continue
    return _FLAGS.get(text.strip().lower(), text)
