"""Action ~/solve_constrained_ik, with feedback and cancellation."""

from collections.abc import Callable
from dataclasses import replace
import time

from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import IKSolution, Status
from ros2_ik.messages.answers import fill_progress
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.answering import answering, header
from ros2_ik.node.endpoints.ik_requests import PreparedRequest
from ros2_ik.node.endpoints.registry import Endpoint, QUEUE, timer

NAME = '~/solve_constrained_ik'
NODE_STOPPED = 'the node was stopped'
MAX_GOALS = 64     # maximum number of open goals
FEEDBACK_PERIOD = 0.2     # [s]
RESULT_TIMEOUT = 10       # time for which the action server keeps a result, node's clock [s]


class OpenGoal:
    """
    A goal without a result.

    - `asked`: the parsed request, None before parsing.
    - `newest`: the best solution in the last progress report.
    - `phase`: as in the feedback message.
    - `why`: the reason why the goal must end, or ''.
    - `end`: cancels the running search.
    - `stops`: MotionExecutor.stops when the goal arrived; a later stop prevents the motion.
    """

    def __init__(self, handle: ServerGoalHandle, stops: int) -> None:
        self.handle, self.stops = handle, stops
        self.asked: PreparedRequest | None = None
        self.newest: IKSolution | None = None
        self.phase, self.why = 'searching', ''
        self.end: Callable[[], None] = lambda: None
        self.began = time.monotonic()

    def stop(self, why: str) -> None:
        """Cancel the goal's search; the reason of the first call is reported."""
        if not self.why:
            self.why = why
            self.end()

    def with_reason(self, solution: IKSolution) -> IKSolution:
        """Return the solution; after a stop without one, the newest reported or PREEMPTED."""
        # the worker did not answer the cancellation, but has reported a solution before
        if self.why and not solution.success and self.newest and self.newest.success:
            return self.newest
        if not self.why or solution.success:
            return solution
        message = solution.message
        if not message.startswith(self.why):
            message = f'{self.why}; {message}'
        return replace(solution, status=Status.PREEMPTED, message=message)


class ConstrainedIK(Endpoint):
    """
    The action: searches in the node's thread if the search is short, else in a worker.

    An invalid goal is accepted and then aborted, since only a result can carry the reason.
    """

    def offer(self) -> None:
        self._goals: list[OpenGoal] = []
        self._ending = False
        self._server = ActionServer(
            self.node, SolveConstrainedIK, NAME, self._execute, cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup(), goal_service_qos_profile=QUEUE,
            result_service_qos_profile=QUEUE, cancel_service_qos_profile=QUEUE,
            result_timeout=RESULT_TIMEOUT)
        timer(self.node, FEEDBACK_PERIOD, self._publish)

    def end(self) -> None:
        """End all goals with their best results, and reject new ones."""
        self._ending = True
        for goal in list(self._goals):
            goal.stop(NODE_STOPPED)

    # -- callbacks of the action server ---------------------------------------------------

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        for goal in self._goals:
            if goal.handle is handle:
                goal.stop('cancelled')
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> SolveConstrainedIK.Result:
        """Return the result of a goal; never raises."""
        goal = OpenGoal(handle, self.motions.stops)
        # cancelled between acceptance and this callback
        if handle.is_cancel_requested:
            goal.stop('cancelled')
        if self._ending:
            goal.stop(NODE_STOPPED)
        self._goals.append(goal)
        self.statistics.open_goals = len(self._goals)
        result = await self._answer(goal, SolveConstrainedIK.Result())
        self._goals.remove(goal)
        self.statistics.open_goals = len(self._goals)
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
        goal.asked = await self.settled.read(lambda: self._read(goal))
        solution = goal.with_reason(await self._search(goal, goal.asked))
        if solution.success and goal.asked.execute:
            goal.phase, goal.newest = 'moving', solution
        await self.ik_requests.finish(goal.asked, solution, result, goal.stops,
                                      'action solve_constrained_ik', lambda: goal.why)

    def _read(self, goal: OpenGoal) -> PreparedRequest:
        if goal.why:
            raise RequestError(Status.PREEMPTED, goal.why)
        n_open = sum(not other.why for other in self._goals)
        if n_open > MAX_GOALS:
            self.statistics.busy += 1
            raise RequestError(Status.TIMED_OUT, f'busy: {n_open - 1} goals are open, the maximum')
        return self.ik_requests.read(goal.handle.request)

    async def _search(self, goal: OpenGoal, question: PreparedRequest) -> IKSolution:
        def submitted(number: int) -> None:
            goal.end = lambda: self.pool.cancel(number)

        # called in the pool's thread
        def tell(solution: IKSolution) -> None:
            if goal.phase == 'searching':
                goal.newest = solution
        return await self.ik_requests.search(question, submitted, tell)

    def _publish(self) -> None:
        """Publish the feedback of all open goals."""
        for goal in self._goals:
            feedback = SolveConstrainedIK.Feedback(phase=goal.phase)
            if goal.newest is not None and goal.asked is not None:
                fill_progress(feedback, goal.newest, goal.asked.search.problem,
                              header(self.node, goal.asked.robot.root_frame))
            feedback.seconds = time.monotonic() - goal.began
            goal.handle.publish_feedback(feedback)
