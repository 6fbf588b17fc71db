"""HTML texts of the page: status, figures of the answer, joint values to copy."""

from html import escape
from inspect import getdoc
import json
import math
import re

import numpy as np

from ros2_ik.core import Array, Robot
from ros2_ik.core.internals import largest_change as core_largest_change, written_kinds
from ros2_ik.view.arm import AnswerQuality
from ros2_ik.view.session import Session
from ros2_ik.view.surfaces import Color

SMALL = 'font-size:12px;padding:0 12px 6px'
# with a minimum height, so that the controls below do not jump during a drag
STYLE = f'{SMALL};line-height:1.5;min-height:160px'
# for texts that rarely change: cut to one line; a tooltip shows the whole text
ONE_LINE = 'white-space:nowrap;overflow:hidden;text-overflow:ellipsis;opacity:0.6'
# one click selects the whole text
CODE = ('user-select:all;white-space:pre-wrap;overflow-wrap:anywhere;max-height:10em;'
        'overflow-y:auto;background:#8882;border-radius:4px;padding:4px 8px;margin:2px 0 8px')
GREY = (0.45, 0.47, 0.5)
# text that is removed: in a drag, its change is from the last answer, not from the robot
FROM_SEED = re.compile(r'; largest joint change \S+ \S+ \([^)]*\)')


def _square(quality: AnswerQuality) -> str:
    return f'<span style="color:{_css(quality.value)}">&#9632;</span>'


def _css(color: Color) -> str:
    return f'rgb({",".join(str(round(255 * part)) for part in color)})'


LEGEND = (f'<div style="{SMALL}">ghost: {_square(AnswerQuality.SOLVED)} reached, '
          f'{_square(AnswerQuality.IN_CONTACT)} in contact, '
          f'{_square(AnswerQuality.FAILED)} not reached</div>')


def status_html(session: Session) -> str:
    """Return the status, in the colour of the ghost, and figures of the answer as HTML."""
    answer, color, lines = session.answer, GREY, list[str]()
    if answer is not None:
        # grey for notes that are not about the displayed answer
        if session.status == answer.message or session.status.startswith('solution '):
            color = answer.quality.value
        change = largest_change(session.robot, session.arm.q, answer.q)
        lines.append(f'{1e3 * answer.seconds:.2f} ms' + (f', {change}' if change else ''))
        lines += [f'{error.tip}: {1e3 * error.position:.2f} mm, '
                  f'{math.degrees(error.orientation):.2f} deg off' for error in answer.errors]
        lines += [f'contact: {contact.first} - {contact.second}'
                  for contact in answer.contacts[:5]]
    badge = (f'<div style="background:{_css(color)};color:white;border-radius:4px;padding:3px 8px;'
             f'margin-bottom:4px">{escape(FROM_SEED.sub("", session.status))}</div>')
    rest = ''.join(f'<div>{escape(line)}</div>' for line in lines)
    rest += ''.join(f'<div style="{ONE_LINE}" title="{escape(line)}">{escape(line)}</div>'
                    for line in (() if answer is None else answer.not_checked))
    return f'<div style="{STYLE}">{badge}{rest}</div>'


def copy_html(session: Session) -> str:
    """Return as HTML the answer's joint values [rad, m] and a command that repeats the search."""
    if session.answer is None:
        return f'<div style="{SMALL}">no answer yet</div>'
    values = session.robot.to_joints(session.answer.q, include_mimic=True)
    joints = json.dumps({name: np.round(value, 5).tolist() for name, value in values.items()})
    return ''.join(
        f'<div style="{SMALL}">{title}: click, then Ctrl-C<div style="{CODE}"><code>'
        f'{escape(text)}</code></div></div>'
        for title, text in (('joints [rad, m]', joints),
                            ('with problem.yaml saved, the command', session.command)))


def kinds_html() -> str:
    """Return the kinds of constraints and costs, each with a one-line description, as HTML."""
    lines = [f'<b>{escape(kind)}</b>: {escape((getdoc(function) or "").partition(chr(10))[0])}'
             for kind, function in written_kinds().items()]
    return f'<div style="{SMALL}">{"<br>".join(lines)}</div>'


def largest_change(robot: Robot, before: Array, after: Array) -> str:
    """Return a text about the largest joint change between two q (nq,), '' without joints."""
    most = core_largest_change(robot.joints, before, after)
    if most is None:
        return ''
    if most.unit == 'rad':
        most = most._replace(change=math.degrees(most.change), unit='deg')
    return f'largest joint change {most}'
