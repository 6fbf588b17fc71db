"""The goals of an action: what is known of each, and whose turn it is."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
import time

from rclpy.action.server import ServerGoalHandle

from ros2_ik.core import IKSolution, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.ik_requests import PreparedRequest
from ros2_ik.node.endpoints.registry import Wait


class OpenGoal:
    """
    What is known of a goal that has no result yet.

    `asked` is its question once it has been read, `newest` what its search had found when that
    was last heard of, `phase` what the feedback says. `why` says why it must end, '' as long as
    it need not. `end` ends what it is doing. `preempted` are the goals that this one has ended,
    `on_finished` is called when it has come to its own end. `stops` is that of the execution
    when it came: what is stopped later does not begin to move.
    """

    def __init__(self, handle: ServerGoalHandle, stops: int) -> None:
        self.handle, self.stops = handle, stops
        self.asked: PreparedRequest | None = None
        self.newest: IKSolution | None = None
        self.phase, self.why = 'waiting', ''
        self.end: Callable[[], None] = lambda: None
        self.began = time.monotonic()
        self.preempted: list[OpenGoal] = []
        self.on_finished: list[Callable[[None], None]] = []

    @property
    def joints(self) -> frozenset[str]:
        """Names of the joints that it may move."""
        return frozenset(self.asked.search.problem.joint_names) if self.asked else frozenset()

    def stop(self, why: str) -> None:
        """End it as soon as possible; the first reason counts."""
        if not self.why:
            self.why = why
            self.end()

    def check(self) -> None:
        """Raise RequestError when it must end."""
        if self.why:
            raise RequestError(Status.PREEMPTED, self.why)

    def judged(self, solution: IKSolution) -> IKSolution:
        """Return what its search came to as its answer; a solution is one whoever stopped it."""
        if not self.why or solution.success:
            return solution
        message = solution.message
        if not message.startswith(self.why):
            message = f'{self.why}; {message}'
        return replace(solution, status=Status.PREEMPTED, message=message)


Decide = Callable[[bool], None]


class GoalTurns:
    """
    So many goals at a time may search; the others wait in the order in which they came.

    `wait(start)` calls start(done) and awaits what done is given. For one thread, the executor's.
    """

    def __init__(self, places: int, wait: Wait) -> None:
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
