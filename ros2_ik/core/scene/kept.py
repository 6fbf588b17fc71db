"""The results used last, shared by threads, and by processes that are forked meanwhile."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
import os
import threading
from typing import Generic, TypeVar

K = TypeVar('K', bound=Hashable)
V = TypeVar('V')


def fork_safe_lock() -> threading.Lock:
    """Return a lock that is free in a forked process, where no thread is that could free it."""
    lock = threading.Lock()
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release,
                        after_in_child=lock.release)
    return lock


class Kept(Generic[K, V]):
    """
    At most so many values under their keys; the one not used for longest goes first.

    Any number of threads may use it.
    """

    def __init__(self, most: int = 8) -> None:
        self._most, self._values = most, OrderedDict[K, V]()
        self._lock = fork_safe_lock()

    def get(self, key: K, make: Callable[[], V],
            is_valid: Callable[[V], bool] = lambda value: True) -> V:
        """
        Return the value of a key, made where there is none that is valid.

        It is made outside the lock, as that can take long and may use other values; of several
        threads that make it at once, all get the one that is ready first.
        """
        with self._lock:
            found = self._touched(key, is_valid)
        if found:
            return found[0]
        made = make()
        with self._lock:
            found = self._touched(key, is_valid)
            if found:
                return found[0]
            self._values[key] = made
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return made

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()

    def _touched(self, key: K, is_valid: Callable[[V], bool]) -> list[V]:
        """Return the valid value, now the one used last, or nothing."""
        if key not in self._values or not is_valid(self._values[key]):
            return []
        self._values.move_to_end(key)
        return [self._values[key]]
