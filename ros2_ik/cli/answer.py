"""An answer, from the library or from a node, as text or JSON."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
import json
import math
from typing import Any, NamedTuple, TYPE_CHECKING

from ros2_ik.cli.question import Exit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ros2_ik.core import Configuration, Joint, Robot, Search

NEAR = 0.02   # of a joint's range
WRONG = 'WRONG_ANSWER'   # beside the names of Status
QUATERNION = (('qx', ''), ('qy', ''), ('qz', ''), ('qw', ''))
PARTS = {3: (('x', 'm'), ('y', 'm'), ('theta', 'rad')),   # a planar joint, a floating one
         7: (('x', 'm'), ('y', 'm'), ('z', 'm'), *QUATERNION)}


# -- forward kinematics of its joint values, whatever was said of it ---------------------------

class WantedPose(NamedTuple):
    """A pose T (4, 4) that `tip` should have in `frame` (default: the root), and its weights."""

    tip: str
    T: 'NDArray[Any]'
    frame: str | None
    weights: tuple[float, ...]


class Check(NamedTuple):
    """Error of `tip` from its target: [m], [rad], along the axes that count."""

    tip: str
    position: float
    orientation: float


def recheck(robot: 'Robot', q: 'NDArray[Any]', wanted: Sequence[WantedPose],
            frames_at: 'NDArray[Any] | None' = None) -> list[Check]:
    """
    Return the errors at q (nq,).

    Frames stand where they are at `frames_at` (nq,), by default where q moves them.
    """
    from ros2_ik.core import Configuration
    at = Configuration(robot, q)
    before = at if frames_at is None else Configuration(robot, frames_at)
    return [_check(target, at, before) for target in wanted]


def _check(target: WantedPose, at: 'Configuration', before: 'Configuration') -> Check:
    import numpy as np
    import pinocchio as pin
    frame = at.robot.root_frame if target.frame is None else target.frame
    T_goal = before.transform(frame) @ target.T
    error = np.linalg.inv(T_goal) @ at.transform(target.tip)
    rows = np.concatenate([error[:3, 3], pin.log3(error[:3, :3])])
    rows[np.array(target.weights) <= 0] = 0.0
    return Check(target.tip, float(np.linalg.norm(rows[:3])), float(np.linalg.norm(rows[3:])))


# -- the answer --------------------------------------------------------------------------------

@dataclass
class Answer:
    """
    An answer to a question, as it is printed.

    `values` are the joints by name: the solution, or without success the best attempt. `claimed`
    are the errors that came with the answer, `checked` those found by forward kinematics (empty
    when it could not run), which may differ by `noise`; `suspicion` says what a larger difference
    would likely come from. `constraints` are ConstraintReports, or messages with the same fields.
    `not_reached`: `values` are a solution, but the motion to it failed. `not_checked` says what of
    the robot no check for collisions has looked at.
    """

    status: str
    message: str
    success: bool
    values: dict[str, Any]
    claimed: Sequence[Check]
    checked: Sequence[Check] = ()
    noise: float = 1e-6
    figures: dict[str, Any] = field(default_factory=dict)
    alternatives: Sequence[dict[str, Any]] = ()
    notes: list[str] = field(default_factory=list)
    constraints: Sequence[Any] = ()
    explanation: str = ''
    not_reached: bool = False
    interrupted: bool = False
    suspicion: str = ''
    not_checked: Sequence[str] = ()

    @property
    def doubtful(self) -> bool:
        """True if forward kinematics finds another error than the answer claims."""
        return any(abs(ours - theirs) > self.noise
                   for check, claim in zip(self.checked, self.claimed, strict=False)
                   for ours, theirs in zip(check[1:], claim[1:], strict=True))

    @property
    def wrong(self) -> bool:
        """True for a success that forward kinematics does not confirm."""
        return self.success and self.doubtful

    @property
    def exit(self) -> Exit:
        """The exit code it deserves."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return Exit.ANSWERED if self.success and not self.wrong else Exit.NO_SOLUTION

    @property
    def headline(self) -> tuple[str, str]:
        """Status and message, as far as they can be believed."""
        if self.wrong:
            return WRONG, f'{self.status} was answered, but forward kinematics does not confirm it'
        return self.status, self.message

    @property
    def all_notes(self) -> list[str]:
        """The notes, and what of the claims forward kinematics does not confirm."""
        return [*self.notes, self._doubt()] if self.doubtful else self.notes

    def _doubt(self) -> str:
        pairs = '; '.join(f'{claim.tip}: {_errors(claim)} claimed, {_errors(check)} found'
                          for claim, check in zip(self.claimed, self.checked, strict=False))
        return f'the errors are not what the answer claims: {pairs}' + (
            f'. {self.suspicion}' if self.suspicion else '')


def library_answer(search: 'Search', wanted: Sequence[WantedPose],
                   frames_at: Any = None) -> Answer:
    """Return what came of a search here; `wanted` is rechecked, see there for `frames_at`."""
    solution, problem = search.solution(), search.problem
    robot, names = problem.robot, problem.joint_names
    return Answer(
        solution.status.name, solution.message, solution.success,
        robot.to_joints(solution.best_q, names),
        [Check(e.tip, e.position, e.orientation) for e in solution.errors],
        recheck(robot, solution.best_q, wanted, frames_at),
        figures={key: getattr(solution, key) for key in (
            'iterations', 'restarts', 'seconds', 'solver', 'solver_reason', 'impossible')},
        alternatives=[robot.to_joints(other.best_q, names) for other in solution.alternatives],
        not_checked=solution.not_checked)


def print_answer(answer: Answer, robot: 'Robot | None', as_json: bool = False) -> None:
    """Print an answer as JSON or as tables, with limits where the robot is known."""
    if as_json:
        print(answer_json(answer))
        return
    print(': '.join(filter(None, answer.headline)))
    for note in [*answer.all_notes, *answer.not_checked]:
        print(note)
    if answer.values:
        print(f'\n{title}:' if (title := _title(answer)) else '')
        print(joint_table(answer.values, robot))
    _print_errors(answer)
    if answer.constraints:
        print('\n' + constraint_table(answer.constraints))
    for i, values in enumerate(answer.alternatives, 2):
        what = f'answer {i}, not re-checked' if answer.wrong else f'solution {i}'
        print(f'\n{what}:\n{joint_table(values, robot)}')
    if answer.explanation and not answer.success:
        print('\n' + '\n'.join(line for line in answer.explanation.splitlines()[1:-1]
                               if line.strip() not in answer.not_checked))
    print('\n' + _figures(answer.figures))


def _title(answer: Answer) -> str:
    if answer.wrong:
        return 'answer, not confirmed'
    return '' if answer.success else (
        'solution, not reached' if answer.not_reached else 'best attempt')


def _print_errors(answer: Answer) -> None:
    checks = answer.checked or answer.claimed
    if not checks:
        return
    print('\n' + table(('target', 'position error [m]', 'orientation error [rad]'),
                       [(c.tip, small(c.position), small(c.orientation)) for c in checks]))
    print('recomputed by forward kinematics' if answer.checked else
          'as the answer claims, not recomputed')


def _errors(check: Check) -> str:
    return f'{small(check.position)} m {small(check.orientation)} rad'


def joint_table(values: dict[str, Any], robot: 'Robot | None') -> str:
    """Joints with value, degrees, limits, and a mark where one is near its limit."""
    known = {joint.name: joint for joint in robot.joints} if robot else {}
    rows = []
    for name, value in values.items():
        if isinstance(value, float):
            rows.append(_row(name, value, known.get(name)))
        else:
            rows += [(f'{name} {part}', number(float(component)), unit, '', '', '', '')
                     for (part, unit), component in zip(PARTS[len(value)], value, strict=True)]
    return table(('joint', 'value', 'unit', 'degrees', 'lower', 'upper', ''), rows)


def _row(name: str, value: float, joint: 'Joint | None') -> tuple[str, ...]:
    if joint is None:
        return name, number(value), '', '', '', '', ''
    span = joint.upper - joint.lower
    margin = min(value - joint.lower, joint.upper - value)
    near = math.isfinite(span) and margin < NEAR * span
    mark = '' if not near else 'near its limit' if margin > -1e-6 else 'OUTSIDE its limits'
    return (name, number(value), 'rad' if joint.rotary else 'm',
            number(math.degrees(value), 2) if joint.rotary else '',
            bound(joint.lower), bound(joint.upper), mark)


def constraint_table(constraints: Sequence[Any]) -> str:
    """Lay out the rows of constraints and costs: value, bounds, and whether that holds."""
    rows = []
    for item in constraints:
        for i, label in enumerate(item.labels):
            value, lower, upper = (float(x[i]) for x in (item.value, item.lower, item.upper))
            outside = max(lower - value, value - upper)
            state = ('holds' if item.holds or outside <= 0 else
                     f'{"off" if item.soft else "VIOLATED"} by {outside:.2g}')
            rows.append(('' if i else item.name, label, number(value), bound(lower),
                         bound(upper), state,
                         number(item.cost) if item.soft and not i else ''))
    return table(('constraint', 'row', 'value', 'lower', 'upper', '', 'cost'), rows)


def bound(value: float) -> str:
    """Return a bound, '-' for none."""
    return number(value) if math.isfinite(value) else '-'


def _figures(figures: dict[str, Any]) -> str:
    seconds = ', '.join(f'{figures[key] * 1e3:.2f} ms {what}' for key, what
                        in (('seconds', 'solving'), ('round_trip', 'round trip'))
                        if figures.get(key) is not None)
    motion = figures.get('motion_seconds')
    return (f'{figures.get("solver", "?")}: {figures.get("iterations", 0)} iterations, '
            f'{figures.get("restarts", 0)} restarts, {seconds}'
            + (f', {motion:.2f} s of motion' if motion else ''))


def answer_json(answer: Answer) -> str:
    """Return it as JSON; errors are those of forward kinematics, null where it could not run."""
    targets = [{'tip': claim.tip, 'claimed_position_error': claim.position,
                'claimed_orientation_error': claim.orientation,
                'position_error': check.position if check else None,
                'orientation_error': check.orientation if check else None}
               for claim, check in zip_longest(answer.claimed, answer.checked)]
    status, message = answer.headline
    success = answer.success and not answer.wrong
    return to_json({
        'success': success, 'status': status, 'message': message,
        'joints': answer.values if success else None, 'best_joints': answer.values,
        'targets': targets, **answer.figures, 'alternatives': list(answer.alternatives),
        'notes': answer.all_notes, 'not_checked': list(answer.not_checked),
        **_constraints_json(answer)})


def _constraints_json(answer: Answer) -> dict[str, Any]:
    if not answer.constraints:
        return {}
    names = ('name', 'kind', 'soft', 'holds', 'violation', 'cost', 'labels', 'value', 'lower',
             'upper')
    return {'constraints': [{name: getattr(item, name) for name in names}
                            for item in answer.constraints],
            'cost': sum(item.cost for item in answer.constraints),
            'explanation': answer.explanation}


def add_json_argument(parser: argparse.ArgumentParser, also: str = '') -> None:
    """Add --json; `also` adds to its help."""
    parser.add_argument('--json', action='store_true',
                        help=f'print JSON{also and ": " + also}; of a bad question (exit code 2) '
                             'nothing is printed but the reason, on stderr')


def to_json(content: Any) -> str:
    """Return JSON that every reader takes: null for infinity, lists for arrays."""
    return json.dumps(_plain(content), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, 'tolist'):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- aligned text ------------------------------------------------------------------------------

def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out rows of text under a header: columns of numbers to the right, others to the left."""
    body = [tuple(row) for row in rows]
    columns = [_column(title, [row[i] for row in body]) for i, title in enumerate(header)]
    return '\n'.join('  '.join(line).rstrip() for line in zip(*columns, strict=True))


def number(value: float, digits: int = 4) -> str:
    """Return a fixed-point number, a zero without a sign."""
    text = f'{value:.{digits}f}'
    return text[1:] if text.startswith('-') and not text.strip('-0.') else text


def small(value: float | None) -> str:
    """Return an error: its order of magnitude is what matters."""
    return '-' if value is None else f'{value:.1e}'


def _column(title: str, cells: Sequence[str]) -> list[str]:
    width = max(len(text) for text in (title, *cells))
    numeric = bool(cells) and all(_is_number(text) for text in cells)
    return [text.rjust(width) if numeric else text.ljust(width) for text in (title, *cells)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ('', '-')
    return True
