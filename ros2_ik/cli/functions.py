"""`ros2_ik functions`: list the kinds of functions for constraints and costs."""

import argparse
import inspect

from ros2_ik.cli.answer import table
from ros2_ik.cli.arguments import Commands
from ros2_ik.cli.question import Exit

EXAMPLE = """examples:
  ros2_ik functions
  ros2_ik functions gaze_angle"""


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'functions', help='kinds of functions for constraints and costs, and their fields',
        description='List the kinds of functions, or the fields of one kind in problem files and '
                    'messages.', epilog=EXAMPLE)
    parser.add_argument('kind', metavar='KIND', nargs='?', help='a kind, such as gaze_angle')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Print the kinds, or the fields of one kind; returns the exit code."""
    from ros2_ik.core.errors import UnknownFunctionError
    from ros2_ik.core.internals import spec_fields, written_kinds
    kinds = written_kinds()
    if args.kind is None:
        print(table(('kind', 'is'), [(kind, (inspect.getdoc(function) or '').partition('\n')[0])
                                     for kind, function in kinds.items()]))
        return Exit.ANSWERED
    if args.kind not in kinds:
        raise UnknownFunctionError(args.kind, tuple(kinds))
    function = kinds[args.kind]
    print(f'{args.kind}\n\n{inspect.getdoc(function)}\n')
    print(table(('field', 'form', 'default'), [
        (name, field.type.form, 'needed' if field.needed else _text(field.unwritten))
        for name, field in spec_fields(function).items() if not field.type.supplied]))
    return Exit.ANSWERED


def _text(default: object) -> str:
    if isinstance(default, (list, tuple)):
        return ' '.join(f'{number:g}' for number in default)
    if default is None:
        return ''
    return str(default).lower() if isinstance(default, bool) else str(default)
