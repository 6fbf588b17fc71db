"""Answers of the library or of a node, printed as text or JSON."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import json
import math
import re
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import Exit

if TYPE_CHECKING:
    from ros2_ik.core import Array, Joint, Robot
    from ros2_ik.core.internals import TargetError
    from ros2_ik.messages.constraints import ConstraintReport


@dataclass
class Answer:
    """
    The result of a request, ready to be printed.

    `values` are joint values by name: the solution or, if none was found, the best attempt.
    `errors` are the pose errors of the targets at these values. `constraints` are
    ConstraintReports, or messages with the same fields. If `not_reached`, `values` are a solution,
    but the motion to the solution failed. If `interrupted`, a signal cancelled the goal.
    """

    status: str
    message: str
    success: bool
    values: dict[str, Any]
    errors: 'Sequence[TargetError]' = ()
    figures: dict[str, Any] = field(default_factory=dict)
    alternatives: 'Sequence[Mapping[str, float | Array]]' = ()
    constraints: 'Sequence[ConstraintReport]' = ()
    explanation: str = ''
    not_reached: bool = False
    interrupted: bool = False
    not_checked: Sequence[str] = ()

    @property
    def exit(self) -> Exit:
        """The exit code of the command."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return Exit.SUCCESS if self.success else Exit.NO_SOLUTION


def print_answer(answer: Answer, robot: 'Robot | None', as_json: bool = False) -> None:
    """Print an answer as JSON, or as tables, which include joint limits if `robot` is given."""
    if as_json:
        print(answer_json(answer))
        return
    print(f'{answer.status}: {answer.message}', *answer.not_checked, sep='\n')
    if answer.values:
        title = '' if answer.success else (
            'solution, not reached:\n' if answer.not_reached else 'best attempt:\n')
        print(f'\n{title}{joint_table(answer.values, robot)}')
    if answer.errors:
        print('\n' + table(('target', 'position error [m]', 'orientation error [rad]'),
                           [(error.tip, f'{error.position:.1e}', f'{error.orientation:.1e}')
                            for error in answer.errors]))
    if answer.constraints:
        print('\n' + constraint_table(answer.constraints))
    for i, values in enumerate(answer.alternatives, 2):
        print(f'\nsolution {i}:\n{joint_table(values, robot)}')
    print('\n' + _figures(answer.figures))


def joint_table(values: 'Mapping[str, float | Array]', robot: 'Robot | None') -> str:
    """Return a table of joint values; with `robot`, also of units, degrees and limits."""
    known = {joint.name: joint for joint in robot.joints} if robot else {}
    rows = []
    for name, value in values.items():
        if isinstance(value, float):
            rows.append(_row(name, value, known.get(name)))
        # planar and floating joints have several values
        else:
            rows += [(f'{name}[{i}]', number(float(component)), '', '', '', '')
                     for i, component in enumerate(value)]
    return table(('joint', 'value', 'unit', 'degrees', 'lower', 'upper'), rows)


def _row(name: str, value: float, joint: 'Joint | None') -> tuple[str, ...]:
    if joint is None:
        return name, number(value), '', '', '', ''
    return (name, number(value), 'rad' if joint.rotary else 'm',
            number(math.degrees(value), 2) if joint.rotary else '',
            bound(joint.lower), bound(joint.upper))


def constraint_table(constraints: 'Sequence[ConstraintReport]') -> str:
    """Return a table of constraints and costs, with a line for each row of their functions."""
    rows = []
    for item in constraints:
        for i, label in enumerate(item.labels):
            if item.kind == 'joint_positions':    # values are differences from the reference
                label = label.replace(' [', ' - reference [')
            value, lower, upper = (float(x[i]) for x in (item.value, item.lower, item.upper))
            outside = max(lower - value, value - upper)
            state = ('holds' if item.holds or outside <= 0 else
                     f'{"off" if item.soft else "VIOLATED"} by {outside:.2g}')
            rows.append(('' if i else item.name, label, number(value), bound(lower),
                         bound(upper), state,
                         number(item.cost) if item.soft and not i else ''))
    return table(('constraint', 'row', 'value', 'lower', 'upper', '', 'cost'), rows)


def bound(value: float) -> str:
    """Return a bound as text, '-' for an infinite bound."""
    return number(value) if math.isfinite(value) else '-'


def _figures(figures: dict[str, Any]) -> str:
    text = (f'{figures["solver"]}, iterations: {figures["iterations"]}, '
            f'restarts: {figures["restarts"]}, {figures["seconds"] * 1e3:.2f} ms solving')
    if 'round_trip' in figures:
        text += f', {figures["round_trip"] * 1e3:.2f} ms round trip'
    if figures.get('motion_seconds'):
        text += f', {figures["motion_seconds"]:.2f} s of motion'
    return text


# -- JSON --------------------------------------------------------------------------------------

def answer_json(answer: Answer) -> str:
    """Return an answer as JSON."""
    content = {
        'success': answer.success, 'status': answer.status, 'message': answer.message,
        'joints': answer.values if answer.success else None, 'best_joints': answer.values,
        'targets': [{'tip': error.tip, 'position_error': error.position,
                     'orientation_error': error.orientation} for error in answer.errors],
        **answer.figures, 'alternatives': list(answer.alternatives),
        'not_checked': list(answer.not_checked)}
    if answer.constraints:
        from ros2_ik.messages.constraints import ConstraintReport
        content |= {'constraints': [{name: getattr(one, name) for name in ConstraintReport._fields}
                                    for one in answer.constraints],
                    'cost': sum(item.cost for item in answer.constraints),
                    'explanation': answer.explanation}
    # standard JSON: null for infinity and NaN, lists for arrays
    return json.dumps(_plain(content), indent=2, allow_nan=False)


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument('--json', action='store_true',
                        help='print JSON; errors (exit code 2) are still printed on stderr')


def _plain(value: Any) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, 'tolist'):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- aligned text ------------------------------------------------------------------------------

def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an aligned table: columns of numbers are right-aligned, others left-aligned."""
    body = [tuple(row) for row in rows]
    columns = [_column(title, [row[i] for row in body]) for i, title in enumerate(header)]
    return '\n'.join('  '.join(line).rstrip() for line in zip(*columns, strict=True))


def number(value: float, digits: int = 4) -> str:
    """Format a number with `digits` decimals; a value that rounds to 0 has no minus sign."""
    text = f'{value:.{digits}f}'
    return text[1:] if text.startswith('-') and not text.strip('-0.') else text


def _column(title: str, cells: Sequence[str]) -> list[str]:
    width = max(len(text) for text in (title, *cells))
    numeric = all(re.fullmatch('[-+.0-9e]*', text) for text in cells)
    return [text.rjust(width) if numeric else text.ljust(width) for text in (title, *cells)]
