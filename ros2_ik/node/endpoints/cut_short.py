"""The answer of a search that its worker does not answer for."""

from dataclasses import replace
import time

from ros2_ik.core import IKSolution, Search, Status
from ros2_ik.node.workers import UnansweredError


def cut_short(search: Search, error: UnansweredError, newest: IKSolution | None = None) \
        -> IKSolution:
    """Return what is known of it: `newest` is what it was last heard to have found."""
    cancelled = error.status is Status.PREEMPTED
    if newest is None:
        if cancelled:
            search.budget.cancel = lambda: True
            return search.solution()
        newest = search.solution()
    if newest.success or newest.impossible or newest.status is Status.APPROXIMATE:
        return newest
    how = 'cancelled' if cancelled else str(error)
    return replace(newest, status=error.status,
                   message=f'{how}, {newest.restarts} restarts were made',
                   seconds=time.monotonic() - search.budget.started)
