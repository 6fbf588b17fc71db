"""What is wrong with a command line, and how the command ends."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every subcommand."""

    ANSWERED = 0
    NO_SOLUTION = 1
    BAD_QUESTION = 2
    INTERRUPTED = 130


class BadQuestion(Exception):
    """A question that cannot be answered; the text is one line for the person who asked it."""
