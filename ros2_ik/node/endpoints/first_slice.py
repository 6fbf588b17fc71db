"""The first slice of a search, in the node's own thread: to ask a worker takes longer."""

import math
import time

from ros2_ik.core import Search

SLICE = 0.002   # computing time, during which no other callback runs [s]
TURNS = 2   # of a search beside others: from its seed, and from a few starts, or one uncompiled


def ended_at_once(search: Search, others: int) -> bool:
    """
    Run a search that may be short for SLICE; gives whether it is finished.

    While there are `others`, long ones, many more may be about to come.
    """
    return _is_short(search) and _run_for(search, SLICE, TURNS if others else math.inf)


def _is_short(search: Search) -> bool:
    """Return whether an attempt is known to take less than a millisecond or so."""
    return search.problem.kinds <= {'targets'} and not search.options.solver_options


def _run_for(search: Search, seconds: float, turns: float) -> bool:
    """
    Run a search for a computing time, and at most so many turns; gives whether it is finished.

    By the clock on the wall a busy machine would leave hardly an attempt to each request.
    """
    end = time.thread_time() + seconds
    while not search.run(seconds=0):
        turns -= 1
        if turns <= 0 or time.thread_time() >= end:
            return False
    return True
