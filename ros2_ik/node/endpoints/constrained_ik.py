"""Action ~/solve_constrained_ik, with feedback and cancellation."""

from dataclasses import dataclass, field
import time

from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import Status
from ros2_ik.messages.answers import fill_progress
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.answering import answering, header, when_settled
from ros2_ik.node.endpoints.ik_requests import PreparedRequest
from ros2_ik.node.endpoints.registry import Endpoint, QUEUE, timer

NAME = '~/solve_constrained_ik'
FEEDBACK_PERIOD = 0.2     # [s]
RESULT_TIMEOUT = 10       # time for which the action server keeps a result, node's clock [s]


@dataclass(eq=False)
class OpenGoal:
    """
    A goal without a result.

    - `stops`: MotionExecutor.stops when the goal arrived; a later stop prevents the motion.
    - `asked`: the parsed request, None before parsing.
    """

    handle: ServerGoalHandle
    stops: int
    asked: PreparedRequest | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def cancelled(self) -> str:
        """'cancelled' after a client's request to cancel the goal, else ''."""
        return 'cancelled' if self.handle.is_cancel_requested else ''


class ConstrainedIK(Endpoint):
    """
    The action: searches in the node's thread if the search is short, else in a worker.

    An invalid goal is accepted and then aborted, since only a result can carry the reason.
    """

    def offer(self) -> None:
        self._goals: list[OpenGoal] = []
        self._server = ActionServer(
            self.node, SolveConstrainedIK, NAME, self._execute, cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup(), goal_service_qos_profile=QUEUE,
            result_service_qos_profile=QUEUE, cancel_service_qos_profile=QUEUE,
            result_timeout=RESULT_TIMEOUT)
        timer(self.node, FEEDBACK_PERIOD, self._publish)

    # -- callbacks of the action server ---------------------------------------------------

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        for goal in self._goals:
            if goal.handle is handle and goal.asked is not None:
                self.pool.cancel(goal.asked.long_search)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> SolveConstrainedIK.Result:
        """Return the result of a goal; never raises."""
        goal = OpenGoal(handle, self.motions.stops)
        self._goals.append(goal)
        result = await self._answer(goal, SolveConstrainedIK.Result())
        self._goals.remove(goal)
        # a goal that was cancelled too late has a solution, but ends as canceled
        if handle.is_cancel_requested:
            handle.canceled()
        elif result.status == Status.SUCCESS:
            handle.succeed()
        else:
            handle.abort()
        return result

    # -- processing of a goal -------------------------------------------------------------

    @answering('solve_constrained_ik')
    async def _answer(self, goal: OpenGoal, result: SolveConstrainedIK.Result) -> None:
        goal.asked = await when_settled(self, lambda: self._read(goal))
        await self.ik_requests.answer(goal.asked, result, goal.stops,
                                      'action solve_constrained_ik', lambda: goal.cancelled)

    def _read(self, goal: OpenGoal) -> PreparedRequest:
        if goal.cancelled:
            raise RequestError(Status.PREEMPTED, goal.cancelled)
        return self.ik_requests.read(goal.handle.request)

    def _publish(self) -> None:
        """Publish the feedback of all open goals."""
        for goal in self._goals:
            feedback = SolveConstrainedIK.Feedback(phase='searching')
            if asked := goal.asked:
                feedback.phase = asked.phase
                if asked.newest is not None:
                    fill_progress(feedback, asked.newest, asked.search.problem,
                                  header(self.node, asked.robot.root_frame))
            feedback.seconds = time.monotonic() - goal.began
            goal.handle.publish_feedback(feedback)
