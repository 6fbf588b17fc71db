"""Time and iterations of a search."""

from collections.abc import Callable
from dataclasses import dataclass, field
import math
from threading import Event
import time

from ros2_ik.core.status import ExitFlag


@dataclass(slots=True)
class Budget:
    """
    Time, iterations and a cancel flag of one search.

    `iterations` is counted down by the search and by what it calls.

    `deadline` is on the steady clock (`time.monotonic`), which all processes of a machine share.
    `cancel` is a callable that returns True, or has `is_set` like threading.Event.
    """

    deadline: float = math.inf
    iterations: float = math.inf
    cancel: Event | Callable[[], bool] | None = None
    started: float = field(default_factory=time.monotonic)
    flag: ExitFlag | None = None

    def cancelled(self) -> bool:
        """Return whether somebody asked to stop."""
        if self.cancel is None:
            return False
        return bool(self.cancel.is_set() if hasattr(self.cancel, 'is_set') else self.cancel())

    def interrupted(self) -> ExitFlag | None:
        """Return why a descent must stop now, or None; `flag` keeps the last answer."""
        self.flag = None
        if time.monotonic() >= self.deadline:
            self.flag = ExitFlag.TIME_LIMIT
        elif self.cancelled():
            self.flag = ExitFlag.CANCELLED
        return self.flag

    def over(self) -> bool:
        """Return whether no further attempt may begin."""
        return self.iterations <= 0 or self.interrupted() is not None
