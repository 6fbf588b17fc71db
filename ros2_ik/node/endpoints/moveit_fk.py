"""Service compute_fk of MoveIt's type, GetPositionFK."""

from dataclasses import dataclass
from typing import Any

from moveit_msgs.srv import GetPositionFK
from rclpy.node import Node

from ros2_ik.core import IKError, Status
from ros2_ik.node.endpoints.answering import error_response, fill_error_code
from ros2_ik.node.endpoints.compute_fk import ComputeFK
from ros2_ik.node.endpoints.registry import Endpoint, serve_as_moveit
from ros2_ik.node.parameters import Parameters
from ros2_ik.srv import ComputeFK as Service


@dataclass(eq=False)
class MoveItFK(Endpoint, name='moveit_fk'):
    """MoveIt's compute_fk: skips unknown links."""

    node: Node
    parameters: Parameters
    compute_fk: ComputeFK

    def __post_init__(self) -> None:
        serve_as_moveit(self.node, self.parameters, GetPositionFK, 'compute_fk', self.answer)

    async def answer(self, request: Any, response: Any) -> Any:
        """Answer a request by ~/compute_fk, which counts it."""
        try:
            await self._fill(request, response)
        except Exception as error:   # a callback that raises would leave the client waiting
            return error_response(response, error, self.node.get_logger())
        return response

    async def _fill(self, request: Any, response: Any) -> None:
        asked = [name.removeprefix('/') for name in request.fk_link_names]
        try:
            frames = {*self.compute_fk.scene_of(request.robot_state)[0].frame_names}
        except IKError:     # which ~/compute_fk answers with
            frames = {*asked}
        known = [name for name in asked if name in frames]
        unknown = [name for name in asked if name not in known]
        status, message = Status.INVALID_LINK_NAME, (
            f'unknown: {", ".join(unknown)}' if unknown else 'no link is named')
        if known:
            ours = await self.compute_fk.answer(Service.Request(
                links=known, frame_id=request.header.frame_id, state=request.robot_state),
                Service.Response())
            response.pose_stamped, response.fk_link_names = ours.poses, ours.links
            if ours.status != Status.SUCCESS or not unknown:
                status, message = Status(ours.status), ours.message
        fill_error_code(response.error_code, status, message)
