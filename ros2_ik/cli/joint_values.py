"""Joint values on the command line: joint=value, or the name of a known state."""

from collections.abc import Mapping, Sequence
import math
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.question import BadQuestion

if TYPE_CHECKING:
    from ros2_ik.core import Robot

HELP = ('joint=value ... [rad, m] (a floating joint: x,y,z,qx,qy,qz,qw), '
        'or the name of a state: home, or one of the SRDF')


def read_joint_values(words: Sequence[str], robot: 'Robot', home: Mapping[str, float] | None,
                      degrees: bool) -> dict[str, Any]:
    """Give values by joint name; later words win over earlier ones."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition('=')
        if equals:
            values[name] = _value(name, text, robot, degrees)
        else:
            values.update(_state(word, robot, home))
    return values


def _value(name: str, text: str, robot: 'Robot', degrees: bool) -> float | list[float]:
    if name in robot.mimics:
        raise BadQuestion(f"joint '{name}' follows '{robot.mimics[name].leader}': give that one")
    joint = robot.joint(name)
    try:
        numbers = [float(part) for part in text.split(',')]
    except ValueError:
        raise BadQuestion(f"'{name}={text}': '{text}' is not a number") from None
    if not joint.single:
        return numbers
    if len(numbers) != 1:
        raise BadQuestion(f"'{name}={text}': joint '{name}' takes one number")
    return math.radians(numbers[0]) if degrees and joint.rotary else numbers[0]


def _state(name: str, robot: 'Robot', home: Mapping[str, float] | None) -> Mapping[str, Any]:
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
