"""Options of solvers, whose values messages have as text."""

from typing import Any

import yaml

from ros2_ik.node.conversions.blame import wrong

LONGEST = 200   # characters


def read_options(pairs: Any) -> dict[str, Any]:
    """
    Read KeyValue messages: values are numbers, true or false, or words.

    Raises Refusal. Which names and values a solver takes, it says itself.
    """
    options: dict[str, Any] = {}
    for index, pair in enumerate(pairs):
        if pair.key in options:
            raise wrong(f"solver_options has '{pair.key}' twice")
        options[pair.key] = _scalar(pair.value, f'solver_options[{index}].value')
    return options


def _scalar(text: str, place: str) -> Any:
    if len(text) > LONGEST:
        raise wrong(f'{place} has {len(text)} characters; at most {LONGEST} are read')
    try:
        return float(text) if _is_decimal(text) else _plain(yaml.safe_load(text), text)
    except yaml.YAMLError:
        return text


def _is_decimal(text: str) -> bool:
    """Whether it is a number with a fraction or an exponent; YAML takes 1e-3 for a word."""
    try:
        float(text)
    except ValueError:
        return False
    return not text.strip().lstrip('+-').isdigit()


def _plain(value: Any, text: str) -> Any:
    return value if isinstance(value, (bool, int, float)) or value is None else text
