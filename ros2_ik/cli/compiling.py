"""`ros2_ik compile`: compile the inner loops ahead of their first use."""

import argparse
from importlib import import_module
from typing import Any

from ros2_ik.cli.question import Exit


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'compile', help='compile the inner loops, which takes up to two minutes',
        description='Compile all inner loops and keep them on disk: in NUMBA_CACHE_DIR, by '
        'default in ~/.cache/ros2_ik. Without this command, loops compile at first use.')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Compile; returns the exit code."""
    from ros2_ik.core import compile_all
    compile_all()
    import_module('ros2_ik.view.raster')    # which compiles its own
    return Exit.ANSWERED
