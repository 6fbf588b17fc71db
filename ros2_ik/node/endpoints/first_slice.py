"""The first slice of a search, in the node's own thread: to ask a worker takes longer."""

import math
import time

from ros2_ik.core import Search

SLICE = 0.002   # computing time, during which no other callback runs [s]
TURNS = 2       # of a search beside others: from its seed, and from a few starts


def ended_at_once(search: Search, others: int) -> bool:
    """
    Run a search of poses alone, whose attempts are short, for SLICE; returns whether it finished.

    While `others` are open, at most TURNS attempts are made, as more requests probably wait.
    Processor time counts, so that a busy machine does not shorten the slice.
    """
    if search.problem.kinds - {'targets'} or search.options.solver_options:
        return False
    end, turns = time.thread_time() + SLICE, TURNS if others else math.inf
    while not search.run(seconds=0):
        turns -= 1
        if turns <= 0 or time.thread_time() >= end:
            return False
    return True
