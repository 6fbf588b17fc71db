"""Service check_state_validity of MoveIt's type, GetStateValidity."""

from dataclasses import dataclass
from itertools import chain
from typing import Any

from moveit_msgs.msg import ConstraintEvalResult, ContactInformation
from moveit_msgs.srv import GetStateValidity
from rclpy.node import Node

from ros2_ik.core import Configuration, Status
from ros2_ik.messages.constraints import hard_constraints, hard_report, named_frames
from ros2_ik.messages.frames import framed_robot
from ros2_ik.messages.moveit_requests import functions_of
from ros2_ik.node.endpoints.answering import answering, Statistics
from ros2_ik.node.endpoints.check_state import CheckState
from ros2_ik.node.endpoints.registry import Endpoint, serve_as_moveit
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.srv import CheckState as Service


@dataclass(eq=False)
class MoveItValidity(Endpoint, name='moveit_validity'):
    """MoveIt's check_state_validity: contacts and constraint results."""

    node: Node
    parameters: Parameters
    statistics: Statistics
    description: Description
    current_state: CurrentState
    scene: PlanningScene
    transforms: Transforms
    check_state: CheckState

    def __post_init__(self) -> None:
        serve_as_moveit(self.node, self.parameters, GetStateValidity, 'check_state_validity',
                        self.answer)

    @answering('check_state_validity')
    async def answer(self, request: Any, response: Any) -> None:
        """Answer a request by ~/check_state; limits of joints do not count, as in MoveIt."""
        robot = self.description.current()
        group = request.group_name if request.group_name in robot.groups else ''    # else all
        ours = await self.check_state.answer(Service.Request(
            group=group, state=request.robot_state), Service.Response())
        if ours.status != Status.SUCCESS:
            self.node.get_logger().error(f'check_state_validity: {ours.message}')
            return
        response.contacts = [ContactInformation(
            header=contact.header, position=contact.position, depth=contact.depth,
            contact_body_1=contact.contact_body_1, body_type_1=contact.body_type_1,
            contact_body_2=contact.contact_body_2, body_type_2=contact.body_type_2)
            for contact in ours.contacts]
        for text in ours.not_checked:
            self.node.get_logger().warning(f'check_state_validity: {text}',
                                           throttle_duration_sec=5.0)
        response.constraint_result = self._results(request)
        response.valid = not response.contacts and all(
            one.result for one in response.constraint_result)

    def _results(self, request: Any) -> list[ConstraintEvalResult]:
        scene, given, _ = self.scene.of_state(request.robot_state, self.description.current(),
                                              'robot_state')
        asked = [*functions_of(request.constraints, scene, self.transforms.lookup())]
        robot = framed_robot(scene, named_frames(chain.from_iterable(asked)))
        constraints = [hard_constraints(functions, robot) for functions in asked]
        needed = frozenset[str]().union(*(one.moved_by for each in constraints for one in each))
        at = Configuration(robot, self.current_state.start(robot, given, needed).q)
        reports = [[hard_report(one, at) for one in each] for each in constraints]
        return [ConstraintEvalResult(result=all(report.holds for report in each),
                                     distance=sum((report.violation for report in each), 0.0))
                for each in reports]
