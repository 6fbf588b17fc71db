"""Action ~/solve_constrained_ik."""

from collections.abc import Awaitable, Callable
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import IKSolution, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.action_server import ActionServer, GoalHandle, KEEP
from ros2_ik.node.endpoints.answering import error_response
from ros2_ik.node.endpoints.first_slice import ended_at_once
from ros2_ik.node.endpoints.goals import GoalTurns, OpenGoal
from ros2_ik.node.endpoints.prepared_request import (
    cut_short,
    PreparedRequest,
    REPLACED,
    RequestReader,
)
from ros2_ik.node.node_context import NodeContext
from ros2_ik.node.workers import UnansweredError

NAME = '~/solve_constrained_ik'
KEPT = 5000        # goals at most that are open or whose results are kept
TICK = 0.1         # time between two looks at the open goals [s]
FEEDBACK = 5       # ticks between two messages about goals that do not search

Wait = Callable[[Callable[[Any], None]], Awaitable[Any]]


class ConstrainedIK:
    """
    Answers goals at once, or searches in worker processes until they end or are cancelled.

    `wait(start)` calls start(done) and awaits what done is given. A goal that cannot be read is
    accepted and aborted: only so can it be told why.
    """

    def __init__(self, node: Node, context: NodeContext, solutions: Publisher, wait: Wait) -> None:
        self._node, self._context, self._solutions, self._wait = node, context, solutions, wait
        self._reader = RequestReader(context)
        self._goals: list[OpenGoal] = []
        self._turns = GoalTurns(context.pool.size, wait)
        self._server = ActionServer(
            node, SolveConstrainedIK, NAME, context.parameters.queue_depth, accept=self._accept,
            cancel=self._cancel, execute=self._execute)
        self._ticks = 0
        self._timer = node.create_timer(TICK, self._tick,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._timer.cancel()

    def close(self) -> None:
        """End all goals with what they have come to."""
        for goal in list(self._goals):
            goal.stop('the node was stopped')

    # -- what the action server calls -----------------------------------------------------

    def _accept(self, _: Any) -> bool:
        if len(self._server) < KEPT:
            return True
        self._context.log.error(f'{KEPT} goals in {KEEP:.0f} s: rejected',
                                throttle_duration_sec=1.0)
        return False

    def _cancel(self, handle: GoalHandle) -> None:
        for goal in self._goals:
            if goal.handle is handle:
                goal.stop('cancelled')

    async def _execute(self, handle: GoalHandle) -> tuple[int, Any]:
        """Return the last status and the result of a goal; never raises."""
        goal = OpenGoal(handle, self._context.execution.stops)
        result = SolveConstrainedIK.Result()
        try:
            self._enter(goal)
            await self._answer(goal, result)
        except Exception as error:
            result = error_response(result, error, self._context.log)
        self._goals.remove(goal)
        for tell in goal.on_finished:
            tell(None)
        self._context.statistics.open_goals = len(self._goals)
        self._context.statistics.count('solve_constrained_ik', result.status)
        if handle.is_cancel_requested:
            return GoalStatus.STATUS_CANCELED, result
        succeeded = result.status == Status.SUCCESS
        return GoalStatus.STATUS_SUCCEEDED if succeeded else GoalStatus.STATUS_ABORTED, result

    # -- the way of a goal ----------------------------------------------------------------

    def _enter(self, goal: OpenGoal) -> None:
        if goal.handle.is_cancel_requested:   # before it could begin
            goal.stop('cancelled')
        self._goals.append(goal)
        self._context.statistics.open_goals = len(self._goals)

    def _keep_watch(self, goal: OpenGoal) -> None:
        """Begin with what a goal needs that is not answered at once."""
        if self._timer.is_canceled():
            self._timer.reset()
        goal.handle.set_executing()

    async def _answer(self, goal: OpenGoal, result: Any) -> None:
        question = goal.asked = await self._context.settled(lambda: self._read(goal))
        self._make_room(goal)
        found = await self._in_turn(goal, question)
        self._end_outdated(goal)
        solution = goal.judged(found)
        header = self._context.header(goal.asked.robot.root_frame)
        goal.asked.fill(result, solution, header)
        goal.asked.publish(self._solutions, solution, result, header)
        if solution.success and goal.asked.execute:
            await self._move(goal, goal.asked, solution, result)

    def _read(self, goal: OpenGoal) -> PreparedRequest:
        goal.check()
        return self._reader.read(goal.handle.request)

    async def _move(self, goal: OpenGoal, question: PreparedRequest, solution: IKSolution,
                    result: Any) -> None:
        why = goal.why
        if why:
            result.status = int(goal.status)
            result.message = f'{why}, nothing was moved; {result.message}'
            return
        self._keep_watch(goal)
        for other in goal.preempted:   # a motion of theirs is braking
            if other in self._goals:
                await self._wait(other.on_finished.append)
        goal.phase, goal.newest = 'moving', solution
        await question.move(self._context, solution, result, goal.stops,
                            'action solve_constrained_ik', lambda: goal.why)

    def _make_room(self, goal: OpenGoal) -> None:
        """End those that this one preempts; raises RequestError when too many are open."""
        parameters = self._context.parameters
        if parameters.goals == 'preempt':
            for other in self._goals:
                if other is not goal and other.joints & goal.joints:
                    goal.preempted.append(other)
                    other.stop('preempted by a newer goal for the same joints')
        going_on = sum(not other.why for other in self._goals)
        if going_on > parameters.max_goals:
            self._context.statistics.busy += 1
            raise RequestError(
                Status.TIMED_OUT, f'busy: {going_on - 1} goals are open, as many as '
                                  'parameter max_goals allows')

    async def _in_turn(self, goal: OpenGoal, question: PreparedRequest) -> IKSolution:
        waits = not self._turns.free
        if not waits and ended_at_once(question.search, self._context.parameters.inline_time,
                                       self._context.pool.open_jobs):
            return question.search.solution()
        self._keep_watch(goal)
        if not await self._turns.take(goal):
            goal.check()
        try:
            goal.check()
            if waits:   # the world has changed, and only now does its time begin
                question = goal.asked = self._read(goal)
            goal.phase = 'searching'
            return await self._search(goal, question)
        finally:
            self._turns.give_back()

    async def _search(self, goal: OpenGoal, question: PreparedRequest) -> IKSolution:
        pool = self._context.pool

        def tell(solution: IKSolution) -> None:
            self._node.executor.create_task(self._take_news, goal, solution)

        def start(done: Any) -> None:
            number = pool.submit(question.search, done, tell)
            goal.end = lambda: pool.cancel(number)
        try:
            solution: IKSolution = await self._wait(start)
            return solution
        except UnansweredError as error:
            return cut_short(question.search, error, goal.newest)

    # -- meanwhile ------------------------------------------------------------------------

    def _take_news(self, goal: OpenGoal, solution: IKSolution) -> None:
        if goal in self._goals and goal.phase == 'searching':
            goal.newest = solution
            self._publish(goal)

    def _publish(self, goal: OpenGoal) -> None:
        feedback = SolveConstrainedIK.Feedback(phase=goal.phase)
        if goal.newest is not None and goal.asked is not None:
            goal.asked.fill_progress(feedback, goal.newest,
                                     self._context.header(goal.asked.robot.root_frame))
        feedback.seconds = time.monotonic() - goal.began
        goal.handle.publish_feedback(feedback)

    def _tick(self) -> None:
        if not self._goals:
            self._timer.cancel()
            return
        self._ticks += 1
        for goal in list(self._goals):
            self._end_outdated(goal)
        if self._ticks % FEEDBACK == 0:
            for goal in self._goals:
                if goal.phase != 'searching':
                    self._publish(goal)

    def _end_outdated(self, goal: OpenGoal) -> None:
        robot = self._context.description.robot   # one that waits will be read again
        if goal.phase == 'searching' and goal.asked and goal.asked.robot is not robot:
            goal.stop(REPLACED, Status.INVALID_ROBOT_STATE)
