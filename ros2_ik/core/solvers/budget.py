"""How long a search may go on."""

from collections.abc import Callable
from dataclasses import dataclass, field
import math
import time
from typing import Any

from ros2_ik.core.errors import InvalidOptionError


@dataclass
class Budget:
    """
    Time, iterations and a cancel flag, looked at by everything that loops.

    `deadline` is on the steady clock (`time.monotonic`), which all processes of a machine share.
    `cancel` is a callable that gives True, or has `is_set` like threading.Event. `progress` is
    called after each attempt with the best solution's error norm and the number of attempts.
    """

    deadline: float = math.inf
    iterations: float = math.inf
    cancel: Any = None
    progress: Callable[[float, int], None] | None = None
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, timeout: float, max_iterations: int | None = None, cancel: Any = None,
           progress: Callable[[float, int], None] | None = None) -> 'Budget':
        """Start the clock: `timeout` in seconds from now."""
        if not (isinstance(timeout, (int, float)) and timeout > 0):
            raise InvalidOptionError(f'timeout must be a positive number of seconds, '
                                     f'not {timeout!r}')
        if max_iterations is not None and not max_iterations > 0:
            raise InvalidOptionError(f'max_iterations must be positive, not {max_iterations!r}')
        started = time.monotonic()
        return cls(started + timeout, math.inf if max_iterations is None else max_iterations,
                   cancel, progress, started)

    def cancelled(self) -> bool:
        """Whether somebody asked to stop."""
        if self.cancel is None:
            return False
        return bool(self.cancel.is_set() if hasattr(self.cancel, 'is_set') else self.cancel())

    def over(self) -> bool:
        """Whether to stop now."""
        return time.monotonic() >= self.deadline or self.iterations <= 0 or self.cancelled()
