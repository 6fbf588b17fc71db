"""Numbers on the command line, refused in words when they make no sense."""

import argparse
import math

from ros2_ik.cli.question import BadQuestion

FULL_TURN, HALF_TURN = math.tau * 1.001, math.pi * 1.001    # [rad], with room for rounding
DEG = ('angles are degrees: those of --rpy, --seed, --orientation-tolerance, --approximate and '
       '--max-joint-change')


def in_radians(option: str, value: float, degrees: bool, most: float, limit: str) -> float:
    """Return an angle [rad]; raises BadQuestion above `most` [rad], which `limit` has in words."""
    angle = math.radians(value) if degrees else value
    if math.isfinite(angle) and abs(angle) > most:
        raise BadQuestion(f'{option}: {value:g} {"deg" if degrees else "rad"} is more than '
                          f'{limit}' + ('' if degrees else '; for degrees add --deg'))
    return angle


def positive(text: str) -> float:
    """Take a positive number of seconds, metres or radians, within reason."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"'{text.strip()}' is not a positive number up to 1e6")
    return value


def count(text: str) -> int:
    """Take a whole number from 1 on."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(
            f"'{text.strip()}' is not a whole number from 1 to 1000000")
    return value
