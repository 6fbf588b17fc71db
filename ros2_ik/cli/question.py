"""Refusals and exit codes of the command."""

import argparse
from enum import IntEnum
import math
import re


class Exit(IntEnum):
    """Exit codes of every subcommand."""

    ANSWERED = 0
    NO_SOLUTION = 1
    BAD_QUESTION = 2
    INTERRUPTED = 130


class BadQuestion(Exception):
    """A question that cannot be answered; the text is one line for the person who asked it."""


def with_options(text: str, args: argparse.Namespace) -> str:
    """Call fields of a request by the options that the command has for them."""
    if 'allow_collisions' in args:
        text = text.replace('avoid_collisions: false', '--allow-collisions').replace(
            "collisions=False does without, missing_meshes='skip' checks the rest",
            '--allow-collisions does without')
    if 'package_dir' in args:
        text = text.replace('package_dirs', '--package-dir')
    if getattr(args, 'deg', False):     # numbers are given back in the unit that was typed
        text = re.sub(r'(\d[\d.]*(?:e[-+]?\d+)?) rad\b',
                      lambda found: f'{math.degrees(float(found[1])):.3g} deg', text)
        text = re.sub(r'(max_joint_change) (\d[\d.]*)',
                      lambda found: f'{found[1]} {math.degrees(float(found[2])):.3g}', text)
    # what stands in quotes or brackets is a name of the robot's
    return re.sub(r"(?<!['(])\b[a-z]+(_[a-z]+)+\b",
                  lambda word: f'--{word[0].replace("_", "-")}' if word[0] in args else word[0],
                  text)
