"""Numbers on the command line, refused in words when they make no sense."""

import argparse
import math

FULL_TURN = math.tau * 1.001    # [rad], with room for rounding


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
