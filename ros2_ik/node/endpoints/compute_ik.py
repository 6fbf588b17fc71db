"""Service ~/compute_ik."""

from dataclasses import dataclass, replace
from typing import Any

from rclpy.node import Node

from ros2_ik.core import IKSolution, Status
from ros2_ik.node.endpoints.answering import answering
from ros2_ik.node.endpoints.first_slice import ended_at_once
from ros2_ik.node.endpoints.ik_requests import IKRequests, PreparedRequest
from ros2_ik.node.endpoints.registry import Endpoint, serve
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.state.settled import Settled
from ros2_ik.node.statistics import Statistics
from ros2_ik.node.workers import Pool
from ros2_ik.srv import ComputeIK as Service

MAX_PENDING = 64   # open searches in the workers


@dataclass(eq=False)
class ComputeIK(Endpoint, name='compute_ik'):
    """Answers at once what a short search answers, and gives the rest to the workers."""

    node: Node
    statistics: Statistics
    settled: Settled
    ik_requests: IKRequests
    pool: Pool
    execution: MotionExecutor

    def __post_init__(self) -> None:
        serve(self.node, Service, '~/compute_ik', self.answer)

    @answering('compute_ik')
    async def answer(self, request: Any, response: Any) -> float:
        """Answer a request."""
        stops = self.execution.stops     # before anything is awaited: `stop` counts from now
        question = await self.settled.read(lambda: self.ik_requests.read(request))
        solution = await self._search(question)
        await self.ik_requests.finish(question, solution, response, stops, 'service compute_ik')
        return solution.seconds

    async def _search(self, question: PreparedRequest) -> IKSolution:
        pending = self.pool.open_jobs
        if ended_at_once(question.search, pending):
            return question.search.solution()
        if pending < MAX_PENDING:
            return await self.ik_requests.search(question)
        self.statistics.busy += 1
        solution = question.search.solution()
        return replace(solution, status=solution.status if solution.success else Status.TIMED_OUT,
                       message=f'busy: {pending} searches are open, the most there may be; '
                               f'{solution.message}')
