"""What the node counts of its requests and goals."""

from collections import Counter, deque

import numpy as np

from ros2_ik.core import Status

KEPT = 1000   # solve times that the percentiles are taken of


class Statistics:
    """Requests by service and status, and the times of the last searches [s]."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.busy = self.open_goals = 0
        self._seconds: deque[float] = deque(maxlen=KEPT)

    def count(self, service: str, status: int, seconds: float = 0.0) -> None:
        """Count a request that has been answered; `seconds` is 0 when nothing was searched."""
        self.requests[service] += 1
        if status != Status.SUCCESS:
            self.failures[Status(status).name] += 1
        if seconds > 0:
            self._seconds.append(seconds)

    def percentiles(self) -> dict[int, float]:
        """Return the times that 50, 90 and 99 % did not exceed [s]; empty without a search."""
        return {percent: float(np.percentile(self._seconds, percent))
                for percent in (50, 90, 99) if self._seconds}
