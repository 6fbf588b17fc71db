"""Which files of the core a call runs through: a reader has to follow it."""

from itertools import groupby
from pathlib import Path
import sys

from ros2_ik import core

CORE = str(Path(core.__file__).parent)


def files_entered(call):
    """Return the files of the core that a call runs through, each time another one is entered."""
    passed = []

    def trace(frame, event, argument):
        name = frame.f_code.co_filename
        if not name.startswith(CORE):
            return None
        passed.append(name.removeprefix(CORE))
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return [name for name, _ in groupby(passed)]
