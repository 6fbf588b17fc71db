"""Main function of the command: parses arguments, runs the subcommand, prints its errors."""

import argparse
from collections.abc import Callable, Sequence
import os
import sys

from ros2_ik import __version__
from ros2_ik.cli import path, picture, robots, servo, solve, view
from ros2_ik.cli.arguments import CommandError, Exit, Parser, with_options

# modules that come with ROS or the built workspace, not from PyPI
ROS = ('rclpy', 'rcl_interfaces', 'moveit_msgs', 'ros2_ik.srv', 'ros2_ik.msg', 'ros2_ik.action',
       'geometry_msgs', 'std_srvs')
# other modules -> their names on PyPI, where these differ
WHEELS = {'pinocchio': 'pin', 'yaml': 'PyYAML', 'collada': 'pycollada', 'PIL': 'pillow'}
BROKEN_PIPE = 141    # exit code that shells use for SIGPIPE


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; parsed arguments have the subcommand's function as attribute `run`."""
    parser = Parser(
        prog='ros2_ik', description='Inverse kinematics for any URDF robot.',
        epilog='exit codes: 0 success; 1 no solution, goal not reached, or not stopped;\n'
               '  2 invalid arguments or no node (the reason is on stderr, and stdout is\n'
               '  empty, also with --json); 130 interrupted (view, goals: 0)\n'
               'more: ros2_ik solve --help')
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    for module in (solve, path, robots, servo, view, picture):
        module.add_parser(commands)
    commands.add_parser(
        'compile', help='compile the inner loops, which takes up to two minutes',
        description='Compile all inner loops, which are otherwise compiled at their first use, '
        'and store them in NUMBA_CACHE_DIR (default: ~/.cache/ros2_ik).'
    ).set_defaults(run=compile_loops)
    return parser


def compile_loops(_: argparse.Namespace) -> Exit:
    """Compile all loops of the library."""
    from ros2_ik.core import compile_all
    compile_all()
    return Exit.SUCCESS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    args = make_parser().parse_args(arguments)
    try:
        code = args.run(args)
        sys.stdout.flush()
        return int(code)
    except KeyboardInterrupt:
        return int(getattr(args, 'interrupted', Exit.INTERRUPTED))
    # for example `ros2_ik robots | head`: the flush at exit would fail, too, so redirect stdout
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        print(f'ros2_ik: {with_options(explanation(error), args)}', file=sys.stderr)
        return Exit.COMMAND_ERROR


def run_as_process(main: Callable[[], int] = main) -> int:
    """Run a main function; return its exit code or, if rclpy was imported, exit with that code."""
    code = main()
    # this exit skips the interpreter's shutdown, where static destructors of DDS sometimes hang
    if 'rclpy' in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def explanation(error: Exception) -> str:
    """Return the text of an expected error as one line; re-raise unexpected errors."""
    if isinstance(error, CommandError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition('.')[0]
        name = error.name if package == 'ros2_ik' else package
        if name in ROS:
            return (f'{name} is missing: source ROS and the built workspace '
                    '(. install/setup.bash), or run it as: tools/run ros2_ik ...')
        return f'{name} is missing: pip install {WHEELS.get(name, name)}'
    # a file or a port that the user named
    if isinstance(error, OSError) and error.filename:
        return f"'{error.filename}': {error.strerror}"
    from ros2_ik.core import IKError
    if isinstance(error, IKError):
        return ' '.join(str(error).split())
    raise error
