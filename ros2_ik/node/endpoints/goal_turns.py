"""Whose search goes on now, and who waits."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ros2_ik.node.endpoints.open_goal import OpenGoal

Decide = Callable[[bool], None]


class GoalTurns:
    """
    So many goals at a time may search; the others wait in the order in which they came.

    `wait(start)` calls start(done) and awaits what done is given. For one thread, the executor's.
    """

    def __init__(self, places: int, wait: Callable[[Any], Awaitable[Any]]) -> None:
        self._active, self._wait = places, wait
        self._queue: deque[Decide] = deque()

    @property
    def free(self) -> bool:
        """Whether the next one need not wait."""
        return self._active > 0

    async def take(self, goal: OpenGoal) -> bool:
        """
        Wait for a place; gives whether the goal has one.

        Waiting ends without one when the goal is stopped.
        """
        if self._active:
            self._active -= 1
            return True

        def enter(decide: Decide) -> None:
            self._queue.append(decide)
            goal.end = lambda: self._leave(decide)
        return bool(await self._wait(enter))

    def give_back(self) -> None:
        """Leave a place to the next one."""
        if self._queue:
            self._queue.popleft()(True)
        else:
            self._active += 1

    def _leave(self, decide: Decide) -> None:
        if decide in self._queue:
            self._queue.remove(decide)
            decide(False)
