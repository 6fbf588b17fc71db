"""What is known of a goal of the action."""

from collections.abc import Callable
from dataclasses import replace
import time

from rclpy.action.server import ServerGoalHandle

from ros2_ik.core import IKSolution, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.ik_requests import PreparedRequest


class OpenGoal:
    """
    What is known of a goal that has no result yet.

    `asked` is its question once it has been read, `newest` what its search had found when that
    was last heard of, `phase` what the feedback says. `why` says why it must end, '' as long as
    it need not. `end` ends what it is doing. `preempted` are the goals that this one has ended,
    `on_finished` is called when it has come to its own end. `stops` is that of the executor
    when it came: what is stopped later does not begin to move.
    """

    def __init__(self, handle: ServerGoalHandle, stops: int) -> None:
        self.handle, self.stops = handle, stops
        self.asked: PreparedRequest | None = None
        self.newest: IKSolution | None = None
        self.phase, self.why = 'searching', ''
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
