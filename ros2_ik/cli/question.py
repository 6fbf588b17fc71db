"""Refusals and exit codes of the command."""

import argparse
from enum import IntEnum
import re
import sys


class Exit(IntEnum):
    """Exit codes of every subcommand."""

    ANSWERED = 0
    NO_SOLUTION = 1
    BAD_QUESTION = 2
    INTERRUPTED = 130


class BadQuestion(Exception):
    """A question that cannot be answered; the text is one line for the person who asked it."""


def with_options(text: str, args: argparse.Namespace) -> str:
    """Replace fields of a request by the names of the command's options."""
    if 'allow_collisions' in args:
        text = text.replace('avoid_collisions: false', '--allow-collisions')
    if 'targets' in args:
        text = text.replace('tips: ', '--tip: ')
    # names in quotes or brackets are the robot's
    return re.sub(r"(?<!['(])\b[a-z]+(_[a-z]+)+\b",
                  lambda word: f'--{word[0].replace("_", "-")}' if word[0] in args else word[0],
                  _package_dir(text))


def warn(text: str) -> None:
    """Print a note on stderr."""
    print(f'ros2_ik: {_package_dir(text)}', file=sys.stderr)


def _package_dir(text: str) -> str:
    return text.replace('package_dirs', '--package-dir')
