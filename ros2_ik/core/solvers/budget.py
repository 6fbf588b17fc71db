"""Limits of a search: deadline, iterations, cancellation."""

from collections.abc import Callable
from dataclasses import dataclass, field
import math
from threading import Event
import time

from ros2_ik.core.status import ExitFlag


@dataclass(slots=True)
class Budget:
    """
    Deadline, remaining iterations and cancel flag of one search.

    `deadline` is a time of the monotonic clock (`time.monotonic`) [s], which all processes of a
    machine share. The search subtracts used iterations from `iterations`. The search is cancelled
    when `cancel` is set (an event) or returns True (a callable).
    """

    deadline: float = math.inf
    iterations: float = math.inf
    cancel: Event | Callable[[], bool] | None = None
    started: float = field(default_factory=time.monotonic)
    flag: ExitFlag | None = None

    def cancelled(self) -> bool:
        """Return whether the search was cancelled."""
        if self.cancel is None:
            return False
        return bool(self.cancel.is_set() if hasattr(self.cancel, 'is_set') else self.cancel())

    def interrupted(self) -> ExitFlag | None:
        """Return the reason to stop a descent now, or None; also stored in `flag`."""
        self.flag = None
        if time.monotonic() >= self.deadline:
            self.flag = ExitFlag.TIME_LIMIT
        elif self.cancelled():
            self.flag = ExitFlag.CANCELLED
        return self.flag

    def over(self) -> bool:
        """Return whether no further attempt is allowed."""
        return self.iterations <= 0 or self.interrupted() is not None
