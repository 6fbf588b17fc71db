"""Service ~/solve_ik: MoveIt's GetPositionIK."""

from dataclasses import dataclass
from typing import Any

from moveit_msgs.srv import GetPositionIK
from rclpy.node import Node

from ros2_ik.core import Status
from ros2_ik.messages.answers import fill_stamped_state
from ros2_ik.messages.moveit_requests import compute_ik_request
from ros2_ik.node.endpoints.answering import answering, fill_error_code, header, Statistics
from ros2_ik.node.endpoints.ik_requests import IKRequests, PreparedRequest
from ros2_ik.node.endpoints.registry import Endpoint, serve, serve_as_moveit
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.settled import Settled
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.srv import ComputeIK

# MoveIt reports every failed search as NO_IK_SOLUTION
SEARCH_FAILED = {Status.TIMED_OUT, Status.GOAL_IN_COLLISION, Status.GOAL_CONSTRAINTS_VIOLATED,
                 Status.APPROXIMATE}


@dataclass(eq=False)
class SolveIK(Endpoint, name='solve_ik'):
    """Answers as move_group's /compute_ik does, by the same search as ~/compute_ik."""

    node: Node
    parameters: Parameters
    statistics: Statistics
    settled: Settled
    description: Description
    scene: PlanningScene
    transforms: Transforms
    ik_requests: IKRequests

    def __post_init__(self) -> None:
        serve(self.node, GetPositionIK, '~/solve_ik', self.answer)
        serve_as_moveit(self.node, self.parameters, GetPositionIK, 'compute_ik', self.answer)

    @answering('solve_ik')
    async def answer(self, request: Any, response: Any) -> float:
        """Answer a request; its solution has all joints of the robot."""
        asked, answer = request.ik_request, ComputeIK.Response()
        question = await self.settled.read(lambda: self._read(asked))
        solution = await self.ik_requests.search(question)
        # it never moves the robot: what was stopped does not matter
        await self.ik_requests.finish(question, solution, answer, 0, 'service solve_ik')
        status = Status(answer.status)
        fill_error_code(response.error_code, Status.NO_IK_SOLUTION if status in SEARCH_FAILED
                        else status, answer.message)
        if status is Status.SUCCESS:
            robot = question.robot
            joints = robot.to_joints(solution.best_q, include_mimic=True)
            fill_stamped_state(response.solution, joints, joints,
                               header(self.node, robot.root_frame))
        return solution.seconds

    def _read(self, asked: Any) -> PreparedRequest:
        scene, *_ = self.scene.of_state(asked.robot_state, self.description.current(),
                                        'robot_state')
        return self.ik_requests.read(compute_ik_request(asked, scene, self.parameters,
                                                        self.transforms.lookup()))
