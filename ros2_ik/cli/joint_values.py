"""Joint values on the command line: joint=value, or the name of a state such as home."""

from collections.abc import Mapping, Sequence
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import in_radians
from ros2_ik.cli.question import BadQuestion

if TYPE_CHECKING:
    from ros2_ik.core import Array, Robot

HELP = ('joint=value ... [rad, m], or the name of a state: home of a shipped robot, or a state in '
        'the SRDF')

START = ('default of each joint: its home value, else zero, else (if its limits exclude zero) the '
         'middle of its range')


def read_start(words: Sequence[str], robot: 'Robot', home: Mapping[str, float] | None,
               degrees: bool) -> 'dict[str, float | Array]':
    """Return the values in `words` by joint name; other joints have their home values, if any."""
    has_home = home is not None or any('home' in states for states in robot.group_states.values())
    return read_joint_values([*(['home'] if has_home else []), *words], robot, home, degrees)


def read_joint_values(words: Sequence[str], robot: 'Robot', home: Mapping[str, float] | None,
                      degrees: bool) -> 'dict[str, float | Array]':
    """Return the values in `words` by joint name; later words override earlier words."""
    values: dict[str, float | Array] = {}
    for word in words:
        name, equals, text = word.partition('=')
        if equals:
            values[name] = _value(name, text, robot, degrees)
        else:
            values.update(_state(word, robot, home))
    return values


def _value(name: str, text: str, robot: 'Robot', degrees: bool) -> float:
    if name in robot.mimics:
        leader = robot.mimics[name].leader
        raise BadQuestion(f"joint '{name}' follows '{leader}': give the value of '{leader}'")
    joint = robot.joint(name)
    try:
        value = float(text)
    except ValueError:
        raise BadQuestion(f"'{name}={text}': '{text}' is not a number") from None
    # accept any value within the limits: a joint without limits may make several turns
    if not joint.rotary or not degrees and joint.lower <= value <= joint.upper:
        return value
    return in_radians(name, value, degrees)


def _state(name: str, robot: 'Robot', home: Mapping[str, float] | None
           ) -> Mapping[str, Any]:
    if name == 'home' and home is not None:
        return home
    found: dict[str, Any] = {}
    for states in robot.group_states.values():
        found.update(states.get(name, {}))
    if not found:
        names = {state for states in robot.group_states.values() for state in states}
        names |= {'home'} if home is not None else set()
        valid = f'known states: {", ".join(sorted(names))}' if names else 'no state is known'
        raise BadQuestion(f"'{name}' is neither joint=value nor a state; {valid}")
    return found
