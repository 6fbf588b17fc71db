"""Changes that are made beside the node's thread, one after the other, in the order they came."""

from collections import deque
from collections.abc import Callable
import threading
from typing import Any

BATCH = 100   # so many changes that wait are made together, at most


class ChangeQueue:
    """
    A thread that makes changes, and the node's thread, which takes over what was made.

    `make(changes)` is called in the thread and gives what `take_over` is called with in the
    node's; that gives whether it was taken, else the same changes are made again. `idle()` is
    called in the thread after that. `wake` calls `finish` in the node's thread.
    """

    def __init__(self, make: Callable[[list[Any]], Any], take_over: Callable[[Any], bool],
                 idle: Callable[[], None], wake: Callable[[], None]) -> None:
        self._make, self._take_over, self._idle, self._wake = make, take_over, idle, wake
        self._waiting: deque[Any] = deque()
        self._changed = threading.Condition()
        self._made: Any = None
        self._busy = self._closing = self._looked_for = False
        self._taken = False
        self._thread = threading.Thread(target=self._run, daemon=True, name='scene changes')
        self._thread.start()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, change: Any) -> None:
        """Have a change made."""
        with self._changed:
            self._waiting.append(change)
            self._changed.notify_all()

    def look(self) -> None:
        """Have `idle` called soon."""
        with self._changed:
            self._looked_for = True
            self._changed.notify_all()

    def finish(self) -> None:
        """Take over what was made, in the node's thread."""
        with self._changed:
            made, self._made = self._made, None
        if made is None:
            return
        taken = True   # what fails is not tried again
        try:
            taken = self._take_over(made)
        finally:
            with self._changed:
                self._taken, self._busy = taken, False
                self._changed.notify_all()

    def close(self, patience: float) -> None:
        """End the thread, which may be in the middle of something; it is waited for a moment."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(patience)

    # -- in the thread --------------------------------------------------------------------

    def _run(self) -> None:
        while batch := self._next():
            while not self._closing and not self._deliver(self._make(batch)):
                pass
            if not self._closing:
                self._idle()

    def _next(self) -> list[Any] | None:
        """Wait for changes; None at the end."""
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._waiting or self._closing or self._looked_for)
                if self._closing:
                    return None
                self._looked_for = False
                if self._waiting:
                    return [self._waiting.popleft() for _ in range(min(len(self._waiting),
                                                                       BATCH))]
            self._idle()

    def _deliver(self, made: Any) -> bool:
        """Give the node's thread what was made, and wait until it has taken it, or has not."""
        with self._changed:
            self._made, self._busy = made, True
        self._wake()
        with self._changed:
            self._changed.wait_for(lambda: not self._busy or self._closing)
            return self._taken
