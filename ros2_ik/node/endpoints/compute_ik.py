"""Service ~/compute_ik and topic ~/solution."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from rclpy.publisher import Publisher

from ros2_ik.core import IKSolution, Search, Status
from ros2_ik.node.endpoints.answering import answering
from ros2_ik.node.endpoints.first_slice import ended_at_once
from ros2_ik.node.endpoints.prepared_request import cut_short, REPLACED, RequestReader
from ros2_ik.node.node_context import NodeContext
from ros2_ik.node.workers.member import Done, UnansweredError

Wait = Callable[[Callable[[Done], None]], Awaitable[IKSolution]]


class ComputeIK:
    """
    Answers at once what a short search answers, and gives the rest to the workers.

    `wait(start)` calls start(done) and awaits what done is given.
    """

    def __init__(self, context: NodeContext, publisher: Publisher, wait: Wait) -> None:
        self._context, self._publisher, self._wait = context, publisher, wait
        self._reader = RequestReader(context)
        self._handed_on = set[int]()    # numbers of the searches that workers have

    def end_all(self) -> None:
        """End the searches that are open: they are about a robot that is gone."""
        for number in list(self._handed_on):
            self._context.pool.cancel(number)

    @answering('compute_ik')
    async def answer(self, request: Any, response: Any) -> float:
        """Answer a request of a client."""
        return await self._answer(request, response)

    @answering('')
    async def answer_own(self, request: Any, response: Any) -> float:
        """Answer a question of the node itself, which the diagnostics do not count."""
        return await self._answer(request, response)

    async def _answer(self, request: Any, response: Any) -> float:
        context = self._context
        stops = context.execution.stops     # before anything is awaited: `stop` counts from now
        question = await context.settled(lambda: self._reader.read(request))
        solution = await self._run(question.search)
        if question.robot is not context.description.robot:
            solution = replace(solution, status=Status.INVALID_ROBOT_STATE,
                               message=f'{REPLACED}; {solution.message}')
        header = context.header(question.robot.root_frame)
        question.fill(response, solution, header)
        question.publish(self._publisher, solution, response, header)
        if solution.success and question.execute:
            await question.move(context, solution, response, stops, 'service compute_ik')
        return solution.seconds

    async def _run(self, search: Search) -> IKSolution:
        parameters, pool = self._context.parameters, self._context.pool
        if ended_at_once(search, parameters.inline_time, pool.open_jobs):
            return search.solution()
        if pool.open_jobs < parameters.max_pending:
            return await self._continued(search)
        self._context.statistics.busy += 1
        solution = search.solution()
        return replace(solution, status=solution.status if solution.success else Status.TIMED_OUT,
                       message=f'busy: {pool.open_jobs} searches are open, as many as parameter '
                               f'max_pending allows; {solution.message}')

    async def _continued(self, search: Search) -> IKSolution:
        """Let a worker go on with a search."""
        numbers = list[int]()

        def start(done: Done) -> None:
            numbers.append(self._context.pool.submit(search, done))
            self._handed_on.update(numbers)
        try:
            return await self._wait(start)
        except UnansweredError as error:   # what was found here has to do
            return cut_short(search, error)
        finally:
            self._handed_on.difference_update(numbers)
