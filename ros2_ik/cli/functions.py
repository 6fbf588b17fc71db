"""`ros2_ik functions`: what constraints and costs can be about."""

import argparse
import inspect
from typing import Any

from ros2_ik.cli.answer import add_json_argument, table, to_json
from ros2_ik.cli.question import Exit

EXAMPLE = """examples:
  ros2_ik functions
  ros2_ik functions gaze_angle"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'functions', help='kinds of functions for constraints and costs, and their fields',
        description='List the kinds of functions, or the fields of one, as problem files and '
                    'messages have them.', epilog=EXAMPLE)
    parser.add_argument('kind', metavar='KIND', nargs='?', help='a kind, such as gaze_angle')
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Print; returns the exit code."""
    from ros2_ik.core import UnknownFunctionError, written_kinds
    kinds = written_kinds()
    if args.kind is None:
        content = {kind: summary(function) for kind, function in kinds.items()}
        print(to_json(content) if args.json else table(('kind', 'is'), list(content.items())))
        return Exit.ANSWERED
    if args.kind not in kinds:
        raise UnknownFunctionError(args.kind, tuple(kinds))
    function = kinds[args.kind]
    fields = describe(function)
    if args.json:
        print(to_json({'kind': args.kind, 'fields': fields}))
        return Exit.ANSWERED
    rows = [(name, field['form'], 'needed' if field['needed'] else _text(field['default']))
            for name, field in fields.items()]
    print(f'{args.kind}\n\n{inspect.getdoc(function)}\n')
    print(table(('field', 'form', 'default'), rows))
    return Exit.ANSWERED


def summary(function: Any) -> str:
    """Return the first line of a kind's description."""
    return (inspect.getdoc(function) or '').partition('\n')[0]


def describe(function: Any) -> dict[str, dict[str, Any]]:
    """Return the fields of a kind that are written, each with form, whether needed, default."""
    from ros2_ik.core import spec_fields
    found = {}
    for name, field in spec_fields(function).items():
        if field.type.supplied:
            continue
        found[name] = {'form': field.type.form, 'needed': field.needed,
                       'default': None if field.needed else field.unwritten}
    return found


def _text(default: Any) -> str:
    if isinstance(default, (list, tuple)):
        return ' '.join(f'{number:g}' for number in default)
    if default is None:
        return ''
    return str(default).lower() if isinstance(default, bool) else str(default)
