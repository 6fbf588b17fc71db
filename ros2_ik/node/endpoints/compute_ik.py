"""Service ~/compute_ik."""

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from ros2_ik.node.endpoints.answering import answering, Statistics
from ros2_ik.node.endpoints.ik_requests import IKRequests
from ros2_ik.node.endpoints.registry import Endpoint, serve
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.state.settled import Settled
from ros2_ik.srv import ComputeIK as Service


@dataclass(eq=False)
class ComputeIK(Endpoint, name='compute_ik'):
    """Answers at once what a short search answers, and gives the rest to the workers."""

    node: Node
    statistics: Statistics
    settled: Settled
    ik_requests: IKRequests
    motions: MotionExecutor

    def __post_init__(self) -> None:
        serve(self.node, Service, '~/compute_ik', self.answer)

    @answering('compute_ik')
    async def answer(self, request: Any, response: Any) -> float:
        """Answer a request."""
        stops = self.motions.stops     # before anything is awaited: `stop` counts from now
        question = await self.settled.read(lambda: self.ik_requests.read(request))
        solution = await self.ik_requests.search(question)
        await self.ik_requests.finish(question, solution, response, stops, 'service compute_ik')
        return solution.seconds
