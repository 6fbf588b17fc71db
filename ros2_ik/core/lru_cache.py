"""A cache of results that threads share."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar('K', bound=Hashable)
V = TypeVar('V')


class LRUCache(Generic[K, V]):
    """
    The `size` values used last, under their keys.

    Each step on the dict is atomic, so that threads and forked processes need no lock; threads
    that ask for a missing value at the same time may each make one.
    """

    def __init__(self, size: int = 8) -> None:
        self._size, self._values = size, dict[K, V]()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, made where there is none."""
        value = self._values.get(key)
        if value is None:
            value = make()
        self._values.pop(key, None)    # the dict's order is that of the last use
        self._values[key] = value
        for oldest in list(self._values)[:-self._size]:
            self._values.pop(oldest, None)
        return value

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def clear(self) -> None:
        """Drop all values."""
        self._values.clear()
