"""Action ~/solve_constrained_ik, with feedback and cancellation."""

import time

from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import Status
from ros2_ik.messages.answers import fill_progress
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.endpoint import QUEUE, timer
from ros2_ik.node.endpoints.ik_requests import IKEndpoint, PreparedRequest

NAME = '~/solve_constrained_ik'
FEEDBACK_PERIOD = 0.2     # [s]
RESULT_TIMEOUT = 10       # time for which the action server keeps a result, node's clock [s]


class ConstrainedIK(IKEndpoint):
    """
    The action server; short searches for poses run in the node's thread, all others in a worker.

    An invalid goal is accepted and then aborted, since only a result can carry the reason.
    """

    def offer(self) -> None:
        # handles of open goals with their parsed requests (None before parsing), by `id` of the
        # handle, since handles cannot be hashed
        self._goals: dict[int, tuple[ServerGoalHandle, PreparedRequest | None]] = {}
        self._server = ActionServer(
            self.node, SolveConstrainedIK, NAME, self._execute, cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup(), goal_service_qos_profile=QUEUE,
            result_service_qos_profile=QUEUE, cancel_service_qos_profile=QUEUE,
            result_timeout=RESULT_TIMEOUT)
        timer(self.node, FEEDBACK_PERIOD, self._publish)

    # -- callbacks of the action server ---------------------------------------------------

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if prepared := self._goals.get(id(handle), (handle, None))[1]:
            self.pool.cancel(prepared.path or prepared.search)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> SolveConstrainedIK.Result:
        """Return the result of a goal; never raises."""
        self._goals[id(handle)] = handle, None
        result = await self.respond('solve_constrained_ik', self._answer, handle,
                                    SolveConstrainedIK.Result())
        del self._goals[id(handle)]
        # a goal whose cancel request came too late has a solution, but ends as CANCELED
        if handle.is_cancel_requested:
            handle.canceled()
        elif result.status == Status.SUCCESS:
            handle.succeed()
        else:
            handle.abort()
        return result

    # -- processing of a goal -------------------------------------------------------------

    async def _answer(self, handle: ServerGoalHandle, result: SolveConstrainedIK.Result) -> None:
        # read before the first await, so that a later stop prevents the motion
        stop_count = self.motions.stop_count
        prepared = await self.when_ready(lambda: self._read(handle))
        self._goals[id(handle)] = handle, prepared
        await self.solve(
            prepared, result, stop_count, 'action solve_constrained_ik',
            lambda: 'cancelled' if handle.is_cancel_requested else '')

    def _read(self, handle: ServerGoalHandle) -> PreparedRequest:
        if handle.is_cancel_requested:
            raise RequestError(Status.PREEMPTED, 'cancelled')
        return self.read(handle.request)

    def _publish(self) -> None:
        """Publish the feedback of all open goals."""
        for handle, prepared in self._goals.values():
            feedback = SolveConstrainedIK.Feedback(phase='searching')
            if prepared:
                if prepared.newest is not None:
                    fill_progress(feedback, prepared.newest, prepared.search.problem)
                feedback.phase = prepared.phase
                feedback.seconds = time.monotonic() - prepared.search.budget.started
            handle.publish_feedback(feedback)
