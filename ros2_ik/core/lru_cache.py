"""A cache shared by threads that drops the least recently used values."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar('K', bound=Hashable)
V = TypeVar('V')


class LRUCache(Generic[K, V]):
    """
    Cache of the `size` most recently used values.

    No lock is needed: each operation on the dict is atomic. Two threads that miss the same key at
    the same time may both make its value.
    """

    def __init__(self, size: int = 8) -> None:
        self._size, self._values = size, dict[K, V]()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; call `make` for it if the key is missing."""
        value = self._values.get(key)
        if value is None:
            value = make()
        # a dict keeps the order of insertion: move the key to the end, the most recent use
        self._values.pop(key, None)
        self._values[key] = value
        for oldest in list(self._values)[:-self._size]:
            self._values.pop(oldest, None)
        return value
