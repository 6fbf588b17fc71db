"""How long a search may go on."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
import math
import time
from typing import Any

from ros2_ik.core.checks import positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.status import ExitFlag

PATIENCE = 0.1    # the first descent always gets this time [s]


@dataclass(slots=True)
class Budget:
    """
    Time, iterations and a cancel flag of one search.

    `iterations` is counted down by the search and by what it calls.

    `deadline` is on the steady clock (`time.monotonic`), which all processes of a machine share.
    `cancel` is a callable that returns True, or has `is_set` like threading.Event. `progress` is
    called after each attempt with the solver's error norm at the best end and the number of
    starts.
    """

    deadline: float = math.inf
    iterations: float = math.inf
    cancel: Any = None
    progress: Callable[[float, int], None] | None = None
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, timeout: float, max_iterations: int | None = None, cancel: Any = None,
           progress: Callable[[float, int], None] | None = None) -> 'Budget':
        """Start the clock: `timeout` in seconds from now; raises InvalidOptionError."""
        seconds, iterations = checked_limits(timeout, max_iterations, cancel, progress)
        now = time.monotonic()
        return cls(now + seconds, iterations or math.inf, cancel, progress, now)

    def for_whole_descent(self) -> 'Budget':
        """Return a budget for a descent that is made however short the time is."""
        return replace(self, deadline=max(self.deadline, time.monotonic() + PATIENCE))

    def cancelled(self) -> bool:
        """Return whether somebody asked to stop."""
        if self.cancel is None:
            return False
        return bool(self.cancel.is_set() if hasattr(self.cancel, 'is_set') else self.cancel())

    def interrupted(self) -> ExitFlag | None:
        """Return why a descent must stop at once, or None."""
        if time.monotonic() >= self.deadline:
            return ExitFlag.TIME_LIMIT
        return ExitFlag.CANCELLED if self.cancelled() else None

    def over(self) -> bool:
        """Return whether no further attempt may begin."""
        return self.iterations <= 0 or self.interrupted() is not None


def checked_limits(timeout: Any, max_iterations: Any, cancel: Any, progress: Any
                   ) -> tuple[float, int | None]:
    """Return timeout and iterations as plain numbers, or raise InvalidOptionError."""
    if max_iterations is not None:
        max_iterations = whole(max_iterations, 'max_iterations', InvalidOptionError)
    if not (cancel is None or callable(cancel) or hasattr(cancel, 'is_set')):
        raise InvalidOptionError(f'cancel must be an event or a callable, not {cancel!r}')
    if not (progress is None or callable(progress)):
        raise InvalidOptionError(f'progress must be a callable, not {progress!r}')
    return positive(timeout, 'timeout', InvalidOptionError), max_iterations
