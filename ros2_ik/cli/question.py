"""Errors and exit codes of the command."""

import argparse
from enum import IntEnum
import sys


class Exit(IntEnum):
    """Exit codes of every subcommand."""

    ANSWERED = 0
    NO_SOLUTION = 1
    BAD_QUESTION = 2
    INTERRUPTED = 130


class BadQuestion(Exception):
    """Raised for a question that cannot be answered; the text is one line for the user."""


# request fields, as written in error texts, and the command options that replace them
OPTIONS = {'avoid_collisions: false': '--allow-collisions', 'tips: ': '--tip: ',
           'max_joint_change': '--max-joint-change'}


def with_options(text: str, args: argparse.Namespace) -> str:
    """Replace names of request fields in a text by the names of the command's options."""
    if 'xyz' in args:
        for field, option in OPTIONS.items():
            text = text.replace(field, option)
    return text.replace('package_dirs', '--package-dir')


def warn(text: str) -> None:
    """Print a note on stderr."""
    print(f'ros2_ik: {text.replace("package_dirs", "--package-dir")}', file=sys.stderr)
